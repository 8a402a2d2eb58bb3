import { describe, expect, it } from "vitest";
import { parseQuery, readSearch } from "#/lib/search.ts";
import { besideFilter, datesOf, filterText, linkOf, rolls, shared } from "./link.ts";

const search = (query: string) => readSearch(parseQuery(query));
const dates = { from: "2026-11-30T14:00:00Z", until: "2026-11-30T15:00:00Z" };

describe("a shared link", () => {
  it.each([
    ["a window of the usual length", "", true],
    ["a relative window", "?from=-1h", true],
    ["a window without an end", "?from=2026-11-30T14:00:00Z", true],
    ["a window that ends now", "?from=2026-11-30T14:00:00Z&until=now", true],
    ["a window of two dates", "?from=2026-11-30T14:00:00Z&until=2026-11-30T15:00:00Z", false],
  ])("of %s rolls or not", (_, query, rolling) => {
    expect(rolls(search(query))).toBe(rolling);
  });

  it("has the dates in the place of a relative window, and all else of the page", () => {
    const page = search("?q=tea&type=a&from=-1h&cols=time,id&density=dense&event=s:1&zone=Asia/Tokyo");
    expect(linkOf(shared(page, dates), "https://o.example/explore")).toBe(
      "https://o.example/explore?q=tea&type=a&from=2026-11-30T14:00:00Z&until=2026-11-30T15:00:00Z" +
        "&cols=time,id&density=dense&zone=Asia/Tokyo&event=s:1",
    );
  });

  it("rolls on where the window is left as it is written", () => {
    expect(linkOf(shared(search("?type=a&from=-1h"), undefined), "/explore")).toBe(
      "/explore?type=a&from=-1h",
    );
  });

  it("has pins as they are, and not the saved search of the sharer", () => {
    expect(linkOf(shared(search("?type=a&pin=type&saved=7@3"), undefined), "")).toBe("?type=a&pin=type");
  });

  it("ends, of a window that had no end, when it was searched", () => {
    expect(datesOf({ from: dates.from }, dates.until)).toEqual(dates);
    expect(datesOf(undefined, dates.until)).toBeUndefined();
  });

  it("made short, keeps the filter on the server and the rest in its own address", () => {
    const page = shared(search("?q=tea&type=a&from=-1h&cols=time,id&off=room%3Dx"), dates);
    expect(parseQuery(filterText(page))).toEqual({
      q: ["tea"],
      type: ["a"],
      from: [dates.from],
      until: [dates.until],
    });
    expect(besideFilter(page)).toEqual({ off: ["room=x"], cols: ["time,id"] });
  });
});
