import { describe, expect, it } from "vitest";
import type { SavedSearch } from "#/api/oriel.gen.ts";
import { parseQuery, readSearch, usualFacets, writeSearch } from "#/lib/search.ts";
import { isEdited, openSaved, readOpened, toSave } from "./saved.ts";

const search = (query: string) => readSearch(parseQuery(query));

function saved(query: string, more: Partial<SavedSearch> = {}): SavedSearch {
  return {
    name: "savedSearches/7",
    displayName: "Checkout failures",
    owner: "analyst-1",
    own: true,
    shared: false,
    ...toSave(search(query)),
    version: 3,
    createTime: "2026-11-30T08:00:00Z",
    updateTime: "2026-11-30T08:00:00Z",
    ...more,
  };
}

describe("a saved search", () => {
  it("keeps the filter and a rolling window, and beside it columns, density, split and what is disabled or pinned", () => {
    const { params, view } = toSave(
      search(
        "?q=tea&type=a&data.n=%3E%3D5&from=-1h&cols=time,data.n:120&density=dense&split=source&off=room%3Dhall&pin=type",
      ),
    );
    expect(parseQuery(params)).toEqual({ q: ["tea"], type: ["a"], "data.n": [">=5"], from: ["-1h"] });
    expect(JSON.parse(view)).toEqual({
      cols: ["time,data.n:120"],
      density: ["dense"],
      split: ["source"],
      off: ["room=hall"],
      pin: ["type"],
      written: [expect.stringMatching(/^\w+$/)],
    });
  });

  it("keeps neither the open event nor the zone", () => {
    const { params, view } = toSave(search("?type=a&event=s:1&time=2026-11-30T08:00:00Z&zone=Asia/Tokyo"));
    expect(params).toBe("type=a");
    expect(Object.keys(JSON.parse(view))).toEqual(["written"]);
  });

  it("opens as it was saved, in the zone of the page, and says which version it is", () => {
    const opened = openSaved(
      saved("?type=a&cols=time,id&density=roomy"),
      search("?zone=Asia/Tokyo&room=x"),
      usualFacets,
    );
    expect(writeSearch(opened)).toEqual({
      type: ["a"],
      cols: ["time,id"],
      density: ["roomy"],
      zone: ["Asia/Tokyo"],
      saved: ["7@3"],
    });
  });

  it("lets pinned filters stay, in the place of its own on the same field", () => {
    const opened = openSaved(saved("?type=a&source=s"), search("?type=b&room=x&pin=type"), usualFacets);
    expect(writeSearch(opened)).toEqual({ type: ["b"], source: ["s"], pin: ["type"], saved: ["7@3"] });
    expect(isEdited(opened, saved("?type=a&source=s"), usualFacets)).toBe(false);
  });

  it("opens with its own pins too, and is edited by taking one off", () => {
    const own = saved("?type=a&source=s&pin=source");
    const opened = openSaved(own, search("?room=x&pin=room"), usualFacets);
    expect(writeSearch(opened)).toEqual({
      type: ["a"],
      source: ["s"],
      room: ["x"],
      pin: ["source", "room"],
      saved: ["7@3"],
    });
    expect(isEdited(opened, own, usualFacets)).toBe(false);
    expect(isEdited(search("?type=a&source=s"), own, usualFacets)).toBe(true);
  });

  it.each([
    ["the query", "?q=coffee&type=a"],
    ["a filter", "?q=tea&type=b"],
    ["a disabled filter", "?q=tea&off=type%3Da"],
    ["the window", "?q=tea&type=a&from=-2h"],
    ["the columns", "?q=tea&type=a&cols=time,id"],
    ["the density", "?q=tea&type=a&density=dense"],
  ])("is edited by %s", (_, query) => {
    expect(isEdited(search(query), saved("?q=tea&type=a"), usualFacets)).toBe(true);
  });

  it("is not edited by an open event, the zone or the order of values", () => {
    const page = search("?type=b&type=a&event=s:1&zone=Asia/Tokyo");
    expect(isEdited(page, saved("?type=a&type=b"), usualFacets)).toBe(false);
  });

  it.each(["", "[]", "nothing", '{"cols":5,"density":["x"]}', "null"])(
    "opens with a view of “%s”",
    (view) => {
      const opened = openSaved(saved("?type=a", { view }), search(""), usualFacets);
      expect(writeSearch(opened)).toEqual({ type: ["a"], saved: ["7@3"] });
    },
  );

  it("is named by its number and the version that was seen", () => {
    expect(readOpened("7@3")).toEqual({ number: "7", version: 3 });
    for (const wrong of [undefined, "7", "@3", "0@1", "7@x", "7@3@4"])
      expect(readOpened(wrong)).toBeUndefined();
  });
});
