import { expect, test } from "vitest";
import { totalText } from "./Totals.tsx";

const count = (value: number, relation: "exact" | "atLeast" | "sampled") => ({
  value,
  relation,
  covered: { from: "2026-11-30T00:00:00Z" },
});

const cases = {
  "all rows are loaded: their number is the number": [48, false, count(48, "exact"), "48 events"],
  "one is one": [1, false, undefined, "1 event"],
  "counted to the end": [1200, true, count(48_113, "exact"), "1,200 of 48,113 events"],
  "counted as far as that went": [100, true, count(10_000, "atLeast"), "100 of ≥ 10,000 events"],
  "not counted yet": [100, true, undefined, "≥ 100 events"],
  "more rows are loaded than were counted": [300, true, count(200, "atLeast"), "≥ 300 events"],
} as const;

test.each(Object.entries(cases))("%s", (_, [loaded, more, total, said]) => {
  expect(totalText(loaded, more, total)).toBe(said);
});
