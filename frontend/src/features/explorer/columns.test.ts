import { expect, test } from "vitest";
import {
  asShown,
  columnWidth,
  kept,
  moveColumn,
  resizeColumn,
  tracksOf,
  usualColumns,
  withColumn,
  withoutColumn,
} from "./columns.ts";

const fields = (columns: readonly { field: string }[]) => columns.map(({ field }) => field).join(" ");

test("a new column stands before the summary, once", () => {
  const more = withColumn(usualColumns, "data.amount");
  expect(fields(more)).toBe("time severity type source subject data.amount summary");
  expect(withColumn(more, "data.amount")).toBe(more);
  expect(fields(withColumn([{ field: "time" }], "data.x"))).toBe("time data.x");
});

test("there are no more columns than the server reads", () => {
  let columns = usualColumns;
  for (let i = 0; i < 40; i++) columns = withColumn(columns, `data.f${i}`);
  expect(columns).toHaveLength(16);
});

test("the last column cannot be removed", () => {
  expect(fields(withoutColumn(usualColumns, "severity"))).toBe("time type source subject summary");
  const one = [{ field: "time" }];
  expect(withoutColumn(one, "time")).toBe(one);
});

test("a column is moved to where another stands, and not beyond the ends", () => {
  expect(fields(moveColumn(usualColumns, "subject", 0))).toBe("subject time severity type source summary");
  expect(fields(moveColumn(usualColumns, "time", 2))).toBe("severity type time source subject summary");
  expect(fields(moveColumn(usualColumns, "time", 99))).toBe("severity type source subject summary time");
  expect(moveColumn(usualColumns, "time", -1)).toBe(usualColumns);
  expect(moveColumn(usualColumns, "nowhere", 1)).toBe(usualColumns);
});

test("a width stays within bounds, and can be given up", () => {
  const wide = resizeColumn(usualColumns, "type", 300.4);
  expect(wide[2]).toEqual({ field: "type", width: 300 });
  expect(resizeColumn(wide, "type", 1)[2]).toEqual({ field: "type", width: 48 });
  expect(resizeColumn(wide, "type", 9000)[2]).toEqual({ field: "type", width: 1200 });
  expect(resizeColumn(wide, "type", undefined)[2]).toEqual({ field: "type" });
});

test("a width from elsewhere is bounded too", () => {
  expect(columnWidth({ field: "data.x", width: 9999 })).toBe(1200);
  expect(columnWidth({ field: "data.x", width: 0 })).toBe(48);
  expect(columnWidth({ field: "constructor" })).toBe(150);
});

test("the summary takes what is left, or else the last column", () => {
  expect(tracksOf([{ field: "time" }, { field: "summary" }, { field: "type" }])).toEqual({
    tracks: "92px minmax(160px, 1fr) 156px",
    least: 92 + 160 + 156 + 16 + 24,
  });
  expect(tracksOf([{ field: "time" }, { field: "type", width: 200 }]).tracks).toBe("92px minmax(200px, 1fr)");
});

test("changing one of the usual columns keeps the others as wide as they are shown", () => {
  const measured = new Map([
    ["time", 92],
    ["type", 248],
    ["summary", 420],
  ]);
  expect(asShown(usualColumns, measured).filter(({ width }) => width !== undefined)).toEqual([
    { field: "type", width: 248 },
  ]);
});

test("the usual columns are not in the URL", () => {
  expect(kept(usualColumns)).toBeUndefined();
  expect(kept(resizeColumn(usualColumns, "type", 200))).toHaveLength(6);
  expect(kept(withoutColumn(usualColumns, "subject"))).toHaveLength(5);
});
