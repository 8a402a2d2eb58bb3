import { expect, test } from "vitest";
import type { Event } from "#/api/oriel.gen.ts";
import { drain } from "#/lib/slices.ts";
import { findRows, nextMatch } from "./find.ts";

const events = ["Straße", "Café", "x", "CAFE 2"].map(
  (summary, index) =>
    ({ summary, type: `t${index}`, facets: {}, tags: [], dataKind: "text" }) as unknown as Event,
);
const find = (text: string, fields = ["summary"]) =>
  drain(
    findRows(
      events,
      fields.map((field) => ({ field })),
      () => "waiting",
      text,
    ),
  );

test("a text is found in any row, whatever its case and accents", () => {
  expect(find("cafe")).toEqual([1, 3]);
  expect(find(" CAFÉ ")).toEqual([1, 3]);
  expect(find("nowhere")).toEqual([]);
});

test("only in columns that are shown", () => {
  expect(find("t2")).toEqual([]);
  expect(find("t2", ["summary", "type"])).toEqual([2]);
  expect(find("x", ["data.absent"])).toEqual([]);
});

test("of a summary what the row shows is found", () => {
  const json = { ...events[0], summary: '{"index":77}', dataKind: "json" } as Event;
  const work = (text: string) => drain(findRows([json], [{ field: "summary" }], () => "waiting", text));
  expect(work("index 77")).toEqual([0]);
});

test("no text is found nowhere", () => expect(find("  ")).toEqual([]));

test("thousands of rows are walked in pauses", () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ ...events[0], summary: `n${index}` }) as Event);
  const work = findRows(many, [{ field: "summary" }], () => "waiting", "n999");
  let pauses = 0;
  let step = work.next();
  for (; !step.done; step = work.next()) pauses++;
  expect(step.value).toEqual([999]);
  expect(pauses).toBe(20);
});

test("the next match goes round at the ends", () => {
  expect(nextMatch([2, 5, 9], -1, 1)).toBe(2);
  expect(nextMatch([2, 5, 9], 5, 1)).toBe(9);
  expect(nextMatch([2, 5, 9], 9, 1)).toBe(2);
  expect(nextMatch([2, 5, 9], 2, -1)).toBe(9);
  expect(nextMatch([2, 5, 9], 7, -1)).toBe(5);
  expect(nextMatch([], 1, 1)).toBeUndefined();
});
