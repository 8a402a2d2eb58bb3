import { describe, expect, test } from "vitest";
import { eventName, eventPath, parseEventName, shortName } from "./event-name.ts";
import { highlight, queryWords } from "./highlight.ts";
import {
  applyAction,
  type Filter,
  formatQuery,
  listParams,
  parseQuery,
  readSearch,
  replaceFilter,
  writeSearch,
} from "./search.ts";

const hostile = ["a&b=c", "100%", "ü 漢字 😀", "a+b", "#?/:@,", "<script>", "", "%2F", "a\u0000b", "'\""];

describe("the URL", () => {
  test("holds any value and gives it back", () => {
    for (const value of hostile.filter((text) => text !== "")) {
      const query = formatQuery({ type: [value, "x"], "type!": [value] });
      expect(parseQuery(query)).toEqual({ type: [value, "x"], "type!": [value] });
      expect(query).not.toMatch(/[<>"#\s]/);
    }
  });
  test("reads like the API's own parameters", () => {
    const search = readSearch(parseQuery("?q=a+b&type!=x&source=/home&from=-1h"));
    expect(formatQuery(writeSearch(search, undefined))).toBe("?q=a%20b&type!=x&source=/home&from=-1h");
  });
  test("reproduces a view: reading what was written gives the same", () => {
    const search = {
      query: "declined  card",
      filters: [
        { field: "type", negated: false, values: ["a", "b"] },
        { field: "type", negated: true, values: ["c"] },
        { field: "severity", negated: false, values: ["warning"] },
        { field: "q", negated: true, values: ["noise"] },
      ],
      from: "2026-11-30T14:05:30.123456Z",
      until: "2026-11-30T15:05:30Z",
      open: { name: eventName("/home:1", "id%:😀"), time: "2026-11-30T14:59:00.000001Z" },
      version: "2",
      view: "raw",
      unknown: { foo: ["1"] },
    } as const;
    const params = writeSearch(search, ["Europe/Berlin"]);
    const back = parseQuery(formatQuery(params));
    expect(readSearch(back)).toEqual(search);
    expect(back.zone).toEqual(["Europe/Berlin"]);
  });
  test("keeps parameters that it does not know, and tells them apart", () => {
    expect(readSearch(parseQuery("?foo=1&type=a&__proto__=x&constructor=y")).unknown).toEqual({
      foo: ["1"],
      constructor: ["y"],
    });
  });
  test("drops empty and repeated values", () => {
    expect(readSearch(parseQuery("?type=&type=a&type=a")).filters).toEqual([
      { field: "type", negated: false, values: ["a"] },
    ]);
  });
});

describe("the request", () => {
  test("repeats values and carries negated twins", () => {
    const { query, filters } = readSearch(
      parseQuery("?q=a&type=x&type=y&source!=z&event=e&zone=UTC&from=-1h"),
    );
    expect(listParams({ query, filters })).toEqual({ q: ["a"], type: ["x", "y"], "source!": ["z"] });
  });
});

describe("acting on a value", () => {
  const type = (negated: boolean, ...values: string[]): Filter => ({ field: "type", negated, values });
  const level = (negated: boolean, value: string): Filter => ({
    field: "severity",
    negated,
    values: [value],
  });

  test("including adds to the values that match", () => {
    expect(applyAction([type(false, "a")], "type", "b", "include")).toEqual([type(false, "a", "b")]);
  });
  test("including twice changes nothing", () => {
    expect(applyAction([type(false, "a")], "type", "a", "include")).toEqual([type(false, "a")]);
  });
  test("excluding takes the value from the included ones", () => {
    expect(applyAction([type(false, "a", "b")], "type", "a", "exclude")).toEqual([
      type(false, "b"),
      type(true, "a"),
    ]);
  });
  test("only replaces both senses and leaves other fields", () => {
    const filters = [type(false, "a"), type(true, "b"), level(false, "error")];
    expect(applyAction(filters, "type", "c", "only")).toEqual([type(false, "c"), level(false, "error")]);
  });
  test("severities are thresholds: the last one chosen holds", () => {
    expect(applyAction([level(false, "info")], "severity", "error", "include")).toEqual([
      level(false, "error"),
    ]);
    expect(applyAction([level(false, "info")], "severity", "error", "exclude")).toEqual([
      level(false, "info"),
      level(true, "error"),
    ]);
  });
  test("a changed chip merges into one of its kind", () => {
    const chip = type(true, "b");
    expect(replaceFilter([type(false, "a"), chip], chip, type(false, "b"))).toEqual([type(false, "a", "b")]);
    expect(replaceFilter([type(false, "a"), chip], chip, undefined)).toEqual([type(false, "a")]);
  });
});

describe("names of events", () => {
  test("escape every byte that the API escapes", () => {
    expect(eventName("/home:1", "a b!~._-é")).toBe("%2Fhome%3A1:a%20b%21~._-%C3%A9");
  });
  test("give source and id back", () => {
    for (const text of hostile)
      expect(parseEventName(eventName(text, text))).toEqual({ source: text, id: text });
  });
  test("are refused where they are none", () => {
    expect(parseEventName("nocolon")).toBeUndefined();
    expect(parseEventName("%zz:1")).toBeUndefined();
  });
  test("become paths as they are", () => {
    expect(eventPath(shortName("events/%2Fhome:1"))).toBe("/events/%2Fhome:1");
  });
});

describe("marking words", () => {
  const marked = (text: string, query: string) =>
    highlight(text, queryWords(query))
      .filter((run) => run.marked)
      .map((run) => run.text);
  test("ignores case and accents", () =>
    expect(marked("Café DECLINED", "cafe declined")).toEqual(["Café", "DECLINED"]));
  test("marks whole words only", () => expect(marked("card gateway a", "a")).toEqual(["a"]));
  test("marks within scripts that have no spaces", () =>
    expect(marked("カード再送待ち", "再送")).toEqual(["再送"]));
  test("gives the text back whole", () => {
    const text = "timeout: Timeout, TIMEOUT after 5 s";
    expect(
      highlight(text, ["timeout", "out", "5"])
        .map((run) => run.text)
        .join(""),
    ).toBe(text);
  });
  test("takes nothing as a pattern", () => expect(marked("a.b a*b", ".")).toEqual(["."]));
});
