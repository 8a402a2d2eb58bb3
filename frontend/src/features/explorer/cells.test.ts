import { expect, test } from "vitest";
import type { Event } from "#/api/oriel.gen.ts";
import { applyAction } from "#/lib/search.ts";
import {
  type CellValue,
  cellId,
  cellOf,
  copied,
  farFields,
  type Missing,
  numeric,
  searched,
  unsearched,
} from "./cells.ts";

const event = {
  type: "t",
  source: "/s",
  id: "1",
  time: "2026-11-30T12:00:00Z",
  tags: ["a", "b"],
  facets: { room: ["kitchen"] },
  summary: "x",
} as unknown as Event;

const far = (): CellValue => ({ kind: "number", text: "9007199254740993.10" });

test("the server is asked for what the list has not", () => {
  const columns = ["time", "type", "tag", "room", "data.a", "ext.b", "trace", "nonsense", "data.["].map(
    (field) => ({ field }),
  );
  expect(farFields(columns, ["room", "tag"])).toEqual(["data.a", "ext.b", "trace"]);
  const many = Array.from({ length: 30 }, (_, index) => ({ field: `data.f${index}` }));
  expect(farFields(many, [])).toHaveLength(16);
});

test("a cell has the value as it is spelled", () => {
  expect(cellOf(event, "data.n", far)).toEqual({ kind: "number", text: "9007199254740993.10" });
  expect(cellOf(event, "room", far)).toEqual({ kind: "string", text: "kitchen" });
  expect(cellOf(event, "tag", far)).toEqual({ kind: "several", text: '["a","b"]' });
  expect(cellOf(event, "subject", far)).toEqual({ kind: "absent", text: "" });
  for (const facet of ["device", "constructor"]) {
    expect(cellOf(event, facet, () => "unread")).toEqual({ kind: "absent", text: "" });
  }
});

test("a field holds numbers where the first event that has it does", () => {
  const cells = (_: Event, field: string): CellValue =>
    field === "data.n" ? { kind: "number", text: "1" } : { kind: "absent", text: "" };
  expect(numeric(["type", "data.n", "data.none"], [event], cells)).toEqual(new Set(["data.n"]));
  expect(numeric(["data.n"], [], cells)).toEqual(new Set());
});

test("what is searched for tells the empty text, null and absent apart", () => {
  const asked = (cell: CellValue | Missing) => searched("data.x", cell);
  expect(asked({ kind: "string", text: "" })).toEqual({ kind: "empty", text: "" });
  expect(asked({ kind: "null", text: "null" })).toEqual({ kind: "null", text: "null" });
  expect(asked({ kind: "absent", text: "" })).toEqual({ kind: "absent", text: "" });
  for (const kind of ["object", "array", "several"] as const) {
    expect(asked({ kind, text: "[]" })).toBeUndefined();
  }
  expect(asked("waiting")).toBeUndefined();
  expect(searched("summary", { kind: "string", text: "x" })).toBeUndefined();
});

test("a number's filter has its spelling, a text that looks like one has quotes", () => {
  const filter = (cell: CellValue) =>
    applyAction([], "data.x", searched("data.x", cell) ?? "", "include")[0]?.values;
  expect(filter({ kind: "number", text: "1.50" })).toEqual(["1.50"]);
  expect(filter({ kind: "string", text: "1.50" })).toEqual(['"1.50"']);
});

test("only what is there is copied", () => {
  expect(copied({ kind: "object", text: '{"a" : 1}' })).toBe('{"a" : 1}');
  expect(copied({ kind: "string", text: "" })).toBe("");
  expect(copied({ kind: "absent", text: "" })).toBeUndefined();
  expect(copied("unread")).toBeUndefined();
});

test("the id of a cell has no spaces", () => {
  expect(cellId("event-2", "type", 2)).toBe("event-2-type");
  expect(cellId("event-2", 'data."unit price"', 5)).toBe("event-2-column5");
});

test("where there is no filter on a cell it is said why, and only there", () => {
  const cells: readonly (CellValue | Missing)[] = [
    { kind: "string", text: "x" },
    { kind: "absent", text: "" },
    { kind: "null", text: "null" },
    { kind: "array", text: "[1]" },
    { kind: "object", text: "{}" },
    { kind: "several", text: "[1,2]" },
    "waiting",
  ];
  for (const field of ["data.x", "time"]) {
    for (const cell of cells) {
      expect(unsearched(field, cell) === undefined).toBe(searched(field, cell) !== undefined);
    }
  }
  expect(unsearched("data.x", { kind: "array", text: "[1]" })).toMatch(/whole array/);
});
