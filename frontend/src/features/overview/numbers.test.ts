import { describe, expect, it } from "vitest";
import type { FacetCounts, Histogram } from "#/api/oriel.gen.ts";
import {
  before,
  bucketWindow,
  changeText,
  errorsOf,
  mixOf,
  numberText,
  onlySeverity,
  searchIn,
  shareText,
  sparkOf,
  windowOf,
  worstOf,
} from "./numbers.ts";

const window = { from: "2026-11-30T14:10:30Z", until: "2026-11-30T15:10:30Z" };

const histogram: Histogram = {
  buckets: [
    {
      from: "2026-11-30T14:00:00Z",
      until: "2026-11-30T14:30:00Z",
      count: 10,
      errors: 1,
      split: [7, 2],
      rest: 1,
    },
    {
      from: "2026-11-30T14:30:00Z",
      until: "2026-11-30T15:00:00Z",
      count: 4,
      errors: 2,
      split: [4, 0],
      rest: 0,
    },
    {
      from: "2026-11-30T15:00:00Z",
      until: "2026-11-30T15:30:00Z",
      count: 0,
      errors: 0,
      split: [0, 0],
      rest: 0,
    },
  ],
  interval: "30m",
  zone: "UTC",
  splitBy: "type",
  split: ["a", "b"],
  total: { value: 14, relation: "exact", covered: window },
  snapshot: "s",
};

it("says of a number what it is", () => {
  expect(numberText(12_345, "exact")).toBe("12,345");
  expect(numberText(10_000, "atLeast")).toBe("≥ 10,000");
  expect(numberText(10_000, "sampled")).toBe("about 10,000");
});

it.each([
  [0, 0, "0 %"],
  [0, 10, "0 %"],
  [1, 1_000_000, "< 0.01 %"],
  [45, 10_000, "0.45 %"],
  [10, 10, "100 %"],
])("says that %i of %i is %s", (part, all, text) => {
  expect(shareText(part, all)).toBe(text);
});

it("compares with the window before, where there was something", () => {
  expect(changeText(1041, 1000)).toBe("+4.1 %");
  expect(changeText(500, 1000)).toBe("−50 %");
  expect(changeText(35_500, 1000)).toBe("36 ×");
  expect(changeText(5, 0)).toBeUndefined();
  expect(before(window)).toEqual({ from: "2026-11-30T13:10:30.000Z", until: window.from });
});

describe("the search behind a number", () => {
  it("has the dates of the snapshot, and of one without an end those of its taking", () => {
    expect(windowOf({ from: window.from, until: window.until }, "x")).toEqual(window);
    expect(windowOf({ from: window.from }, window.until)).toEqual(window);
    expect(searchIn(window, { type: ["a"] }, "Asia/Tokyo")).toEqual({
      type: ["a"],
      from: [window.from],
      until: [window.until],
      zone: ["Asia/Tokyo"],
    });
  });

  it("of a bar has no more than the bar counts", () => {
    const [first, second, last] = histogram.buckets;
    expect(first && bucketWindow(first, window)).toEqual({
      from: window.from,
      until: "2026-11-30T14:30:00.000Z",
    });
    expect(second && bucketWindow(second, window)).toEqual({
      from: "2026-11-30T14:30:00.000Z",
      until: "2026-11-30T15:00:00.000Z",
    });
    expect(last && bucketWindow(last, window)).toEqual({
      from: "2026-11-30T15:00:00.000Z",
      until: window.until,
    });
  });

  it("of one severity leaves out those above it, and of none all that have one", () => {
    expect(onlySeverity("error")).toEqual({ "q!": ["-severity:error"] });
    expect(onlySeverity(undefined)).toEqual({ "q!": ["severity:*"] });
  });
});

it("lists severities from the worst, and those without at the end", () => {
  const value = (name: string, count: number) => ({ value: name, count, errors: 0, selected: false });
  const severity: FacetCounts = {
    field: "severity",
    values: [value("info", 90), value("error", 4), value("critical", 1)],
    more: false,
    missing: 5,
    relation: "exact",
    covered: window,
  };
  expect(mixOf(severity)).toEqual([
    { level: "critical", count: 1 },
    { level: "error", count: 4 },
    { level: "info", count: 90 },
    { level: undefined, count: 5 },
  ]);
});

it("sums errors, finds the worst bar and the bars of one value", () => {
  expect(errorsOf(histogram)).toBe(3);
  expect(worstOf(histogram)?.from).toBe("2026-11-30T14:30:00Z");
  expect(worstOf({ ...histogram, buckets: [] })).toBeUndefined();
  expect(sparkOf(histogram, "b")).toEqual([2, 0, 0]);
  expect(sparkOf(histogram, "c")).toBeUndefined();
});
