import { describe, expect, test } from "vitest";
import { eventName, eventPath, nameInPath, parseEventName, shortName } from "./event-name.ts";
import { highlight, queryWords } from "./highlight.ts";
import {
  applyAction,
  asQuery,
  condition,
  dataField,
  emptySearch,
  type Filter,
  formatQuery,
  isField,
  listParams,
  opposite,
  parseQuery,
  presenceOf,
  readSearch,
  readValue,
  replaceFilter,
  sortFilters,
  type Value,
  wholeQuery,
  windowParams,
  writeSearch,
  writtenValue,
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
    expect(formatQuery(writeSearch(search))).toBe("?q=a%20b&type!=x&source=/home&from=-1h");
  });
  test("reproduces a view: reading what was written gives the same", () => {
    const search = {
      query: "declined  card",
      filters: [
        { field: "type", negated: false, values: ["a", "b"] },
        { field: "type", negated: true, values: ["c"] },
        { field: "severity", negated: false, values: ["warning"] },
        { field: "severity", negated: false, values: ["error"], disabled: true },
        { field: "room", negated: false, values: ["Kitchen"], pinned: true },
        { field: 'data."a=b"', negated: false, values: ["1", '"1"', "null"] },
        { field: 'data."a=b"', negated: true, values: ["x=y"], disabled: true, pinned: true },
        { field: "ext.note", negated: true, values: ["*"] },
        { field: "q", negated: true, values: ["noise"], pinned: true },
        { field: "q", negated: true, values: ["hum OR buzz"] },
        { field: "q", negated: true, values: ["off"], disabled: true },
      ],
      arrivedFrom: "-1h",
      arrivedUntil: "now",
      columns: [{ field: "time" }, { field: "data.amount", width: 120 }],
      density: "dense",
      split: "severity",
      zone: "Europe/Berlin",
      from: "2026-11-30T14:05:30.123456Z",
      until: "2026-11-30T15:05:30Z",
      open: { name: eventName("/home:1", "id%:😀"), time: "2026-11-30T14:59:00.000001Z" },
      version: "2",
      view: "raw",
      around: "source",
      unknown: { foo: ["1"] },
    } as const;
    const params = writeSearch(search);
    const back = parseQuery(formatQuery(params));
    expect(readSearch(back)).toEqual(search);
    expect(back.pin).toEqual(["room", 'data."a=b"!', "q!=noise"]);
  });
  test("keeps an attribute that is no parameter as a query, and reads it back", () => {
    const filters = [{ field: "trace", negated: false, values: ["4bf9*", '"a b"'] }];
    const query = formatQuery(writeSearch({ ...emptySearch, filters }));
    expect(parseQuery(query)).toEqual({ "q!": ['-trace:(4bf9* OR "a b")'] });
    expect(readSearch(parseQuery(query)).filters).toEqual(filters);
    expect(readSearch({ "q!": ["-trace:(a b"] }).filters[0]?.field).toBe("q");
  });
  test("takes several queries as alternatives", () => {
    expect(readSearch({ q: ["a b", "c"] }).query).toBe("(a b) OR (c)");
  });
  test("takes the installation's facets for filters, and no other name", () => {
    const params = parseQuery("?oven=a&room=b&oven!=c");
    expect(Object.keys(readSearch(params).unknown)).toEqual(["oven", "oven!"]);
    expect(readSearch(params, ["oven"]).filters).toEqual([
      { field: "oven", negated: false, values: ["a"] },
      { field: "oven", negated: true, values: ["c"] },
    ]);
  });
  test("reads columns whose names hold what separates them", () => {
    const { columns } = readSearch({ cols: ['time,data."a,b:c":120,severity:0x,time:3'] });
    expect(columns).toEqual([
      { field: "time" },
      { field: 'data."a,b:c"', width: 120 },
      { field: "severity" },
    ]);
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
  test("leaves disabled filters out and says what has no parameter as a query", () => {
    const search = readSearch(parseQuery("?off=type=a&type=b&off=q!=x&arrivedFrom=-1h&pin=type"));
    const trace: Filter = { field: "trace", negated: true, values: ["4bf9*"] };
    expect(listParams({ ...search, filters: [...search.filters, trace] })).toEqual({
      type: ["b"],
      "q!": ["trace:4bf9*"],
    });
    expect(windowParams(search)).toEqual({ arrivedFrom: "-1h" });
  });
});

describe("acting on a value", () => {
  const type = (negated: boolean, ...values: string[]): Filter => ({ field: "type", negated, values });
  const level = (negated: boolean, value: string): Filter => ({
    field: "severity",
    negated,
    values: [value],
  });
  const levels = (negated: boolean, ...values: string[]): Filter => ({
    field: "severity",
    negated,
    values,
    exact: true,
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
  test("a severity is that one alone", () => {
    const one = applyAction([], "severity", "error", "include");
    expect(one).toEqual([levels(false, "error")]);
    expect(applyAction(one, "severity", "info", "include")).toEqual([levels(false, "error", "info")]);
    expect(applyAction(one, "severity", "error", "exclude")).toEqual([levels(true, "error")]);
  });
  test("a severity beside a threshold is as if that named all that it reaches to", () => {
    expect(applyAction([level(false, "error")], "severity", "info", "include")).toEqual([
      levels(false, "emergency", "critical", "error", "info"),
    ]);
    expect(applyAction([level(false, "info")], "severity", "error", "exclude")).toEqual([
      level(false, "info"),
      levels(true, "error"),
    ]);
    expect(applyAction([level(true, "error")], "severity", "critical", "include")).toEqual([
      levels(false, "critical"),
    ]);
    expect(applyAction([level(true, "error")], "severity", "info", "include")).toEqual([
      level(true, "error"),
      levels(false, "info"),
    ]);
  });
  test("a severity becomes the least one, whatever was asked of severity before", () => {
    const before = [level(false, "info"), levels(true, "error"), type(false, "a")];
    expect(applyAction(before, "severity", "warning", "least")).toEqual([
      type(false, "a"),
      level(false, "warning"),
    ]);
  });
  test("severities by themselves are an excluded query, and read back from every place of an address", () => {
    const filters = [
      levels(false, "error", "info"),
      levels(true, "critical"),
      { ...levels(false, "trace"), disabled: true },
    ];
    const params = writeSearch({ ...emptySearch, filters });
    expect(params).toEqual({
      "q!": ["-severity:(error OR info)", "severity:critical"],
      off: ["severity:=trace"],
    });
    expect(readSearch(params).filters).toEqual(sortFilters(filters));
    expect(asQuery(levels(true, "error", "info"))).toBe("-severity:(error OR info)");
    expect(readSearch({ "q!": ["severity:*"], "severity:": ["x"] })).toMatchObject({
      filters: [{ field: "q" }],
      unknown: { "severity:": ["x"] },
    });
  });
  test("a changed chip merges into one of its kind", () => {
    const chip = type(true, "b");
    expect(replaceFilter([type(false, "a"), chip], chip, type(false, "b"))).toEqual([type(false, "a", "b")]);
    expect(replaceFilter([type(false, "a"), chip], chip, undefined)).toEqual([type(false, "a")]);
  });
});

describe("values of the data", () => {
  const amount = "data.amount";
  const on = (negated: boolean, ...values: string[]): Filter => ({ field: amount, negated, values });
  const absent = { kind: "absent", text: "" } as const;

  test.each<[Value, string]>([
    [{ kind: "number", text: "9007199254740993" }, "data.amount:9007199254740993"],
    [{ kind: "number", text: "-1.50e+3" }, "data.amount:-1.50e+3"],
    [{ kind: "string", text: "100" }, 'data.amount:"100"'],
    [{ kind: "string", text: "true" }, 'data.amount:"true"'],
    [{ kind: "boolean", text: "true" }, "data.amount:true"],
    [{ kind: "null", text: "null" }, "data.amount:null"],
    [{ kind: "string", text: "null" }, 'data.amount:"null"'],
    [{ kind: "empty", text: "" }, 'data.amount:""'],
    [absent, "-data.amount:*"],
    ["green tea", 'data.amount:"green tea"'],
    ["a*", 'data.amount:"a*"'],
    ["C:\\lo gs\\", 'data.amount:"C:\\lo gs\\\\"'],
    ["C:\\logs\\", "data.amount:C:\\logs\\"],
    ['say "hi"', 'data.amount:"say \\"hi\\""'],
    ["OR", 'data.amount:"OR"'],
    ["-x", 'data.amount:"-x"'],
    ["<3", 'data.amount:"<3"'],
    ["a\u0000b", 'data.amount:"a\u0000b"'],
    ["a\ud800b", 'data.amount:"a\ufffdb"'],
    ["漢字", "data.amount:漢字"],
  ])("are written as the language writes them: %j", (value, written) =>
    expect(condition(amount, value)).toBe(written),
  );
  test("are found by their beginning where they are long, and never cut within a character", () => {
    expect(condition(amount, "é".repeat(600))).toBe(`data.amount:"${"é".repeat(500)}"*`);
    expect(condition(amount, { kind: "number", text: "1".repeat(1001) })).toBe(
      `data.amount:${"1".repeat(1000)}*`,
    );
  });
  test("are read as they were written", () => {
    for (const text of [...hostile, "100", "null", "OR", "a\\\\b", '\\"', "*", "-x"]) {
      const kind = text === "" ? "empty" : "string";
      expect(readValue(writtenValue(amount, text))).toEqual({ kind, text });
    }
  });
  test("lie at paths with any names", () => {
    expect(dataField(["items", { any: true }, "unit price", 3, 'a"b', "größe"])).toBe(
      'data.items[*]."unit price"[3]."a\\"b".größe',
    );
    expect(dataField([])).toBe("data");
  });
  test("absent, null and empty are three filters", () => {
    const of = (value: Value) => applyAction([], amount, value, "include");
    expect(of(absent)).toEqual([on(true, "*")]);
    expect(of({ kind: "null", text: "null" })).toEqual([on(false, "null")]);
    expect(of({ kind: "empty", text: "" })).toEqual([on(false, '""')]);
  });
  test("a value and its absence are never asked for together", () => {
    expect(applyAction([on(false, "1")], amount, absent, "include")).toEqual([on(true, "*")]);
    expect(applyAction([on(true, "*", "2")], amount, "x", "include")).toEqual([
      on(false, "x"),
      on(true, "2"),
    ]);
    expect(applyAction([on(true, "*")], amount, absent, "exclude")).toEqual([on(false, "*")]);
    expect(applyAction([on(false, "1")], amount, absent, "exclude")).toEqual([on(false, "1")]);
    expect(applyAction([on(false, "*")], amount, "x", "include")).toEqual([on(false, "x")]);
  });
  test("an attribute that is absent is a query, as its parameter takes a star as it is", () => {
    const none: Filter = { field: "q", negated: true, values: ["subject:*"] };
    const some: Filter = { field: "q", negated: true, values: ["-subject:*"] };
    const subject: Filter = { field: "subject", negated: false, values: ["*"] };
    expect(applyAction([subject], "subject", absent, "include")).toEqual([none]);
    expect(applyAction([none], "subject", absent, "exclude")).toEqual([some]);
    expect(applyAction([none], "subject", "*", "include")).toEqual([subject]);
    expect(applyAction([some, none], "subject", "*", "only")).toEqual([subject]);
    expect(presenceOf(none)).toEqual({ field: "subject", absent: true });
    expect(presenceOf(some)).toEqual({ field: "subject", absent: false });
    expect(presenceOf(on(true, "*"))).toEqual({ field: amount, absent: true });
    expect(presenceOf(subject)).toBeUndefined();
  });
  test("disabled filters stay as they are", () => {
    const off: Filter = { ...on(false, "1"), disabled: true };
    expect(applyAction([off], amount, "x", "only")).toEqual([on(false, "x"), off]);
  });
  test("pinned filters stay pinned as values are added", () => {
    const pin: Filter = { ...on(false, "1"), pinned: true };
    expect(applyAction([pin], amount, "x", "include")).toEqual([{ ...on(false, "1", "x"), pinned: true }]);
  });
  test("make one query of all that is in force", () => {
    const search = readSearch(
      parseQuery(
        "?q=a OR b&type=x&type=y&severity!=error&tag=t u&tag=v&data.n=green tea&q!=c OR d&off=room=K",
      ),
    );
    expect(wholeQuery(search)).toBe(
      '(a OR b) type:(x OR y) -severity>=error tag:"t u" tag:v data.n:"green tea" -(c OR d)',
    );
  });
});

describe("turning a filter round", () => {
  test.each([
    ["a", "-a"],
    ["a b", "-(a b)"],
    ["(a) OR (b)", "-((a) OR (b))"],
    ['subject:"a b"', '-subject:"a b"'],
    ["subject:*", "-subject:*"],
    ['data."a (b)".c>=5', '-data."a (b)".c>=5'],
    ['data."a b":"c d"', '-data."a b":"c d"'],
    ['data."a b" OR c', '-(data."a b" OR c)'],
  ])("%s", (query, turned) => {
    expect(opposite(query)).toBe(turned);
    expect(opposite(turned)).toBe(query);
  });
  test("a minus before the first of several words is theirs", () => expect(opposite("-a b")).toBe("-(-a b)"));
});

test("a field is one that a filter can be on", () => {
  const yes = ["type", "oven", "id", "ext.note", "data", "data[*]", 'data.a[0]."b c"', "data.größe"];
  const no = ["", "tpye", "ext.", "ext.A", "data.", "data.a b", "data..a", 'data."', "database"];
  expect(yes.filter((name) => !isField(name, ["type", "oven"]))).toEqual([]);
  expect(no.filter((name) => isField(name, ["type", "oven"]))).toEqual([]);
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
  test.each([
    ["%2Fhome:1", "%2Fhome:1"],
    ["/home:1", "%2Fhome:1"],
    ["../../saved:..", "..%2F..%2Fsaved:.."],
    ["urn:a:1?time=x#y", "urn:a%3A1%3Ftime%3Dx%23y"],
    ["e", "e"],
    ["..", "..:"],
    ["../x", "..%2Fx"],
    ["%zz:1", "%25zz%3A1"],
  ])("in an address, such as %s, lead nowhere else", (name, path) => expect(nameInPath(name)).toBe(path));
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
