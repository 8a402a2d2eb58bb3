import { describe, expect, test } from "vitest";
import type { Event } from "#/api/oriel.gen.ts";
import { listCommand } from "./list-keys.ts";
import { layRows, placeRows, rowAt } from "./rows.ts";

function at(...times: string[]): Event[] {
  return times.map((occurredAt) => ({ occurredAt }) as Event);
}

function lines(events: Event[], zone: string, today: string): string[] {
  return layRows(events, zone, today).rows.map((row) =>
    row.kind === "day" ? row.label : row.kind === "event" ? String(row.index) : "end",
  );
}

describe("rows", () => {
  const events = at(
    "2026-11-30T10:00:00.000000Z",
    "2026-11-29T23:30:00.000000Z",
    "2026-11-29T01:00:00.000000Z",
    "2026-11-20T00:00:00.000000Z",
  );

  test("a rule stands wherever the day changes, and none above today", () => {
    expect(lines(events, "UTC", "2026-11-30")).toEqual([
      "0",
      "Sunday 29 Nov 2026",
      "1",
      "2",
      "Friday 20 Nov 2026",
      "3",
      "end",
    ]);
  });
  test("the day is the zone's", () => {
    expect(lines(events, "Europe/Berlin", "2026-11-30")).toEqual([
      "0",
      "1",
      "Sunday 29 Nov 2026",
      "2",
      "Friday 20 Nov 2026",
      "3",
      "end",
    ]);
  });
  test("where the first day is not today it has its rule too", () => {
    expect(lines(events, "UTC", "2026-12-01")[0]).toBe("Monday 30 Nov 2026");
  });
  test("an hour that the clock shows twice is parted, and days of another offset say it", () => {
    const around = at(
      "2026-10-25T01:30:00.000000Z",
      "2026-10-25T00:30:00.000000Z",
      "2026-10-24T12:00:00.000000Z",
      "2026-03-01T12:00:00.000000Z",
    );
    expect(lines(around, "Europe/Berlin", "2026-10-25")).toEqual([
      "0",
      "The clock was set: +01:00 above, +02:00 below",
      "1",
      "Saturday 24 Oct 2026",
      "2",
      "Sunday 1 Mar 2026, +01:00",
      "3",
      "end",
    ]);
    expect(lines(around.toSpliced(1, 1), "Europe/Berlin", "2026-10-25")).toEqual([
      "0",
      "Saturday 24 Oct 2026, +02:00",
      "1",
      "Sunday 1 Mar 2026, +01:00",
      "2",
      "end",
    ]);
  });
  test("every event knows its row", () => {
    const { rows, rowOf } = layRows(events, "UTC", "2026-11-30");
    expect(rowOf.map((row) => rows[row])).toEqual(events.map((_, index) => ({ kind: "event", index })));
  });
  test("nothing found is only the end", () => expect(lines([], "UTC", "2026-11-30")).toEqual(["end"]));
});

describe("keys", () => {
  const place = { cursor: 5, count: 50, page: 20, column: undefined, columns: 6 };
  const to = (key: string, change = {}) => listCommand(key, { ...place, ...change });

  test("move by rows, pages and to both ends", () => {
    expect(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"].map((key) => to(key))).toEqual(
      [6, 4, 25, -15, 0, 49].map((row) => ({ do: "move", to: row })),
    );
  });
  test("enter and leave the cells of a row", () => {
    expect(to("ArrowRight")).toEqual({ do: "column", to: 0 });
    expect(to("ArrowRight", { column: 5 })).toEqual({ do: "column", to: 5 });
    expect(to("ArrowLeft", { column: 0 })).toEqual({ do: "column", to: undefined });
    expect(to("ArrowLeft")).toEqual({ do: "column", to: undefined });
  });
  test("act on a value", () => {
    expect(["+", "-", "o"].map((key) => to(key))).toEqual(
      ["include", "exclude", "only"].map((action) => ({ do: "act", action })),
    );
  });
  test("act on a cell's column", () => {
    expect(to("b")).toEqual({ do: "breakdown" });
    expect(to("Delete")).toEqual({ do: "remove" });
    expect([to("<"), to(">")]).toEqual([
      { do: "widen", by: -24 },
      { do: "widen", by: 24 },
    ]);
    expect(listCommand("ArrowLeft", { ...place, column: 3 }, true)).toEqual({ do: "shift", by: -1 });
    expect(listCommand("ArrowRight", { ...place, column: 3 }, true)).toEqual({ do: "shift", by: 1 });
  });
  test("leave all other keys to the page", () => {
    for (const key of ["j", "x", "f", "Tab", "Escape", "constructor", "__proto__"])
      expect(to(key)).toBeUndefined();
  });
});

describe("places of rows", () => {
  const rows = layRows(at("2026-11-30T10:00:00Z", "2026-11-29T10:00:00Z"), "UTC", "2026-11-30").rows;
  const starts = placeRows(rows, 28, 36, 24);

  test("each begins where the one before ends, below the head", () => {
    expect(rows.map(({ kind }) => kind)).toEqual(["event", "day", "event", "end"]);
    expect([...starts]).toEqual([28, 64, 88, 124, 148]);
  });

  test.each([
    ["above all of them", 0, 0],
    ["on the first", 28, 0],
    ["at the last pixel of one", 63.5, 0],
    ["where the next begins", 64, 1],
    ["in the middle", 100, 2],
    ["below all of them", 900, 3],
  ])("the row %s", (_, height, row) => {
    expect(rowAt(starts, height)).toBe(row);
  });

  test("a list of no rows but its end has that one", () => {
    expect(rowAt(placeRows([{ kind: "end" }], 28, 36, 24), 500)).toBe(0);
  });
});
