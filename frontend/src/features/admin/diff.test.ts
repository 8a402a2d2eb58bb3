import { expect, test } from "vitest";
import { diff } from "./diff.ts";

const lines = (before: unknown, after: unknown) =>
  diff(before, after).map(
    ({ kind, key, value }) => `${{ same: " ", removed: "-", added: "+" }[kind]} ${key} ${value}`,
  );

test("what changed stands as it was and as it is, what did not once", () => {
  expect(
    lines(
      { state: "planned", digest: "51b0", letters: 480 },
      { state: "running", digest: "51b0", letters: 480 },
    ),
  ).toEqual(["- state planned", "+ state running", "  digest 51b0", "  letters 480"]);
});

test("what came and what went", () => {
  expect(lines({ a: 1 }, { b: 2 })).toEqual(["- a 1", "+ b 2"]);
  expect(diff(undefined, { scopes: ["a", { b: 1 }], none: null, empty: [] })).toEqual([
    { kind: "added", key: "scopes", value: ["a", '{"b":1}'] },
    { kind: "added", key: "none", value: "null" },
    { kind: "added", key: "empty", value: "[]" },
  ]);
  expect(lines({ a: ["x"] }, { a: ["x"] })).toEqual(["  a x"]);
  expect(lines({ a: ["x"] }, { a: ["x", "y"] })).toEqual(["- a x", "+ a x,y"]);
  // A list of one text is not that text.
  expect(lines({ a: '["x"]' }, { a: ["x"] })).toHaveLength(2);
  expect(lines({ a: "x" }, undefined)).toEqual(["- a x"]);
  expect(lines(undefined, undefined)).toEqual([]);
});

test("objects within are told by their path", () => {
  expect(lines({ a: { b: { c: 1 }, d: 2 } }, { a: { b: { c: 3 }, d: 2 } })).toEqual([
    "- a.b.c 1",
    "+ a.b.c 3",
    "  a.d 2",
  ]);
  expect(lines({ a: {} }, { a: { b: 1 } })).toEqual(["- a {}", "+ a.b 1"]);
});
