import { expect, test } from "vitest";
import { applyAction, type Filter } from "#/lib/search.ts";
import { absence, pickOf, statisticValue, toggled, withoutField } from "./picks.ts";

const filter = (field: string, values: readonly string[], more: Partial<Filter> = {}): Filter => ({
  field,
  negated: false,
  values,
  ...more,
});

test("values are picked beside each other, and a press on one takes it back alone", () => {
  let filters = toggled([], "source", "/a");
  filters = toggled(filters, "source", "/b");
  expect(filters).toEqual([filter("source", ["/a", "/b"])]);
  expect(pickOf(filters, "source", "/b")).toBe("in");
  filters = toggled(filters, "source", "/a");
  expect(filters).toEqual([filter("source", ["/b"])]);
  expect(toggled(filters, "source", "/b")).toEqual([]);
});

test("a press on an excluded value takes the exclusion back and picks nothing", () => {
  const filters = applyAction([filter("type", ["x"])], "type", "y", "exclude");
  expect(pickOf(filters, "type", "y")).toBe("out");
  expect(toggled(filters, "type", "y")).toEqual([filter("type", ["x"])]);
});

test("a filter that is switched off picks nothing", () => {
  expect(pickOf([filter("type", ["x"], { disabled: true })], "type", "x")).toBeUndefined();
});

const levels = (values: readonly string[], more: Partial<Filter> = {}) =>
  filter("severity", values, { exact: true, ...more });

test("severities are picked one by one, as every other value", () => {
  const filters = toggled(toggled([], "severity", "error"), "severity", "info");
  expect(filters).toEqual([levels(["error", "info"])]);
  expect(["info", "warning", "critical"].map((level) => pickOf(filters, "severity", level))).toEqual([
    "in",
    undefined,
    undefined,
  ]);
  expect(toggled(filters, "severity", "error")).toEqual([levels(["info"])]);
  expect(toggled([levels(["info"])], "severity", "info")).toEqual([]);
});

test("of a threshold, all from it on is picked, and a press takes one level out of them", () => {
  const filters = [filter("severity", ["warning"], { pinned: true })];
  expect(["info", "warning", "critical"].map((level) => pickOf(filters, "severity", level))).toEqual([
    undefined,
    "in",
    "in",
  ]);
  expect(toggled(filters, "severity", "critical")).toEqual([
    levels(["emergency", "error", "warning"], { pinned: true }),
  ]);
  const below = [filter("severity", ["error"], { negated: true })];
  expect(["warning", "error", "emergency"].map((level) => pickOf(below, "severity", level))).toEqual([
    undefined,
    "out",
    "out",
  ]);
  expect(toggled(below, "severity", "emergency")).toEqual([levels(["critical", "error"], { negated: true })]);
});

test.each(["subject", "data.hint"])("absence of %s is picked and taken back like a value", (field) => {
  const picked = toggled([], field, absence());
  expect(picked).toHaveLength(1);
  expect(pickOf(picked, field, absence())).toBe("in");
  expect(toggled(picked, field, absence())).toEqual([]);
  expect(pickOf(applyAction([], field, absence(), "exclude"), field, absence())).toBe("out");
});

test("the counts of a field are made without what is asked of the field itself, also as a query", () => {
  const filters = [
    filter("subject", ["a"]),
    filter("type", ["x"], { negated: true }),
    filter("q", ["subject:*"], { negated: true }),
  ];
  expect(withoutField(filters, "subject")).toEqual([filters[1]]);
});

test("a statistic's value finds what it counted: numbers and the same text as one, text by its quotes", () => {
  expect(statisticValue("100", "data.n", ["number", "string"])).toEqual({ kind: "number", text: "100" });
  expect(statisticValue("007", "data.n", ["number", "string"])).toEqual({ kind: "string", text: "007" });
  expect(statisticValue("100", "data.n", ["string"])).toEqual({ kind: "string", text: "100" });
  expect(statisticValue("false", "data.on", ["boolean"])).toEqual({ kind: "boolean", text: "false" });
  expect(statisticValue("", "data.on", ["string"])).toEqual({ kind: "empty", text: "" });
  expect(statisticValue("100", "source", ["string"])).toBe("100");
});
