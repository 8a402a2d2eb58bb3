import { describe, expect, test } from "vitest";
import { layoutJson } from "./json.ts";
import {
  containers,
  firstOpen,
  searchSteps,
  sourceOf,
  stepsTo,
  treeRows,
  valueAt,
  withOpen,
} from "./json-tree.ts";
import { dataField } from "./language.ts";
import { drain } from "./slices.ts";

function tree(text: string, { columns = 60, root = 0, open = undefined as Uint8Array | undefined } = {}) {
  const layout = layoutJson(text);
  return {
    layout,
    rows: drain(treeRows(text, layout, open ?? firstOpen(layout), root, columns, new Set())),
  };
}

function lineOf(text: string, value: string): number {
  const layout = layoutJson(text);
  for (let line = 0; line < layout.length; line++) {
    if (sourceOf(text, layout, line) === value) return line;
  }
  throw new Error(`no line is ${value}`);
}

describe("paths", () => {
  const text = String.raw`{"payment":{"code":"51","code":"05"},"items":[{"sku":"a"},[7]],"a b":{"":null,"\u0061.\"q":true},"n":9007199254740993}`;
  const cases: Record<string, readonly [exact: string, search: string]> = {
    '"05"': ["data.payment.code", "data.payment.code"],
    '"a"': ["data.items[0].sku", "data.items[*].sku"],
    "7": ["data.items[1][0]", "data.items[*][*]"],
    null: ['data."a b".""', 'data."a b".""'],
    true: [String.raw`data."a b"."a.\"q"`, String.raw`data."a b"."a.\"q"`],
    "9007199254740993": ["data.n", "data.n"],
    [text]: ["data", "data"],
  };
  for (const [value, [exact, search]] of Object.entries(cases)) {
    test(`${value.slice(0, 20)} is at ${exact} and searched for at ${search}`, () => {
      const steps = stepsTo(text, layoutJson(text), lineOf(text, value));
      expect(dataField(steps)).toBe(exact);
      expect(dataField(searchSteps(steps))).toBe(search);
    });
  }
});

test("values keep their kind and their spelling", () => {
  const values: Record<string, unknown> = {
    '"51"': { kind: "string", text: "51" },
    '""': { kind: "empty", text: "" },
    '"x\\u0000y"': { kind: "string", text: "x\u0000y" },
    '"x\\\\u0000y"': { kind: "string", text: String.raw`x\u0000y` },
    "-0": { kind: "number", text: "-0" },
    "1E2": { kind: "number", text: "1E2" },
    "9007199254740993": { kind: "number", text: "9007199254740993" },
    true: { kind: "boolean", text: "true" },
    null: { kind: "null", text: "null" },
    "[1]": undefined,
    "{}": undefined,
  };
  for (const [token, value] of Object.entries(values)) {
    expect(valueAt(token, layoutJson(token).at(0)), token).toEqual(value);
  }
});

describe("rows", () => {
  test("closing brackets have none, and what is closed shows nothing of what is in it", () => {
    const text = `{"a":{"b":1,"c":[2,3]},"d":4}`;
    const { layout, rows } = tree(text);
    expect(rows.length).toBe(7);
    const closed = withOpen(firstOpen(layout), [1], false);
    const shut = tree(text, { open: closed }).rows;
    expect(Array.from({ length: shut.length }, (_, row) => shut.at(row).line)).toEqual([0, 1, 8]);
  });

  test("a line that is closed away is found at what holds it", () => {
    const text = `{"a":{"b":1,"c":[2,3]},"d":4}`;
    const { layout, rows } = tree(text);
    expect(rows.rowOf(4)).toBe(4);
    const shut = tree(text, { open: withOpen(firstOpen(layout), [1], false) }).rows;
    expect(shut.rowOf(4)).toBe(1);
  });

  test("below another root its depth and its end hold", () => {
    const { rows } = tree(`{"a":{"b":1,"c":[2,3]},"d":4}`, { root: 1 });
    expect(Array.from({ length: rows.length }, (_, row) => rows.at(row).line)).toEqual([1, 2, 3, 4, 5]);
  });

  test("parts of a long string go together to the whole of it", () => {
    const text = `{"s":"${"0123456789".repeat(50)}"}`;
    const { rows } = tree(text);
    const parts = Array.from({ length: rows.length }, (_, row) => rows.at(row)).filter(
      ({ line }) => line === 1,
    );
    expect(parts.length).toBeGreaterThan(8);
    expect(parts.map(({ from, to }) => text.slice(from, to)).join("")).toBe(text.slice(5, -1));
    expect(parts.map(({ starts }) => starts).lastIndexOf(true)).toBe(0);
    expect(parts.map(({ ends }) => ends).indexOf(true)).toBe(parts.length - 1);
  });

  test("a long text goes on in another row at a word, and where there is none anywhere", () => {
    const told = (value: string) => {
      const { rows } = tree(value, { columns: 24 });
      return Array.from({ length: rows.length }, (_, row) => rows.at(row)).map(({ from, to }) =>
        value.slice(from, to),
      );
    };
    expect(told('"the card was declined by its issuer twice"')).toEqual([
      '"the card was ',
      "declined by its ",
      'issuer twice"',
    ]);
    expect(told(`"${"x".repeat(30)}"`)).toEqual([`"${"x".repeat(19)}`, `${"x".repeat(11)}"`]);
  });

  test("everything opens from the top until what is in sight is full, and the outermost always", () => {
    const small = layoutJson(`{"a":{"b":{"c":[1]}}}`);
    expect([...containers(small, 0)].every((line) => firstOpen(small)[line])).toBe(true);
    const wide = layoutJson(`{"few":[1,2],"many":[${"1,".repeat(200)}1]}`);
    const open = firstOpen(wide);
    expect([...containers(wide, 0)].map((line) => open[line])).toEqual([1, 1, 0]);
    const huge = layoutJson(`[${"[1],".repeat(50_000)}[1]]`);
    expect(firstOpen(huge).reduce((sum, bit) => sum + bit, 0)).toBe(1);
  });

  test("nesting of many thousand levels opens in the end", () => {
    const text = `${"[".repeat(20_000)}1${"]".repeat(20_000)}`;
    const layout = layoutJson(text);
    const open = withOpen(firstOpen(layout), containers(layout, 0), true);
    const rows = drain(treeRows(text, layout, open, 0, 60, new Set()));
    expect(rows.length).toBe(20_001);
    expect(stepsTo(text, layout, rows.at(20_000).line)).toHaveLength(20_000);
  });
});
