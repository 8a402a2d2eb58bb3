import { describe, expect, test } from "vitest";
import {
  dateAndTime,
  dayStart,
  exactLength,
  fullDay,
  isToday,
  isZone,
  lag,
  lengthText,
  minutesAgo,
  nearDay,
  nextDay,
  offsetLabel,
  rangeText,
  readBound,
  relative,
  shortDay,
  timeOfDay,
  writtenTime,
} from "./time.ts";

const berlin = "Europe/Berlin";

describe("showing a time", () => {
  test("cuts fractions, never rounds", () => {
    expect(timeOfDay("2026-11-30T13:13:13.999999Z", "UTC")).toBe("13:13:13.999");
    expect(dateAndTime("2026-11-30T13:13:13.999999Z", "UTC")).toBe("2026-11-30 13:13:13.999999 UTC");
  });
  test("shows microseconds where there are any", () => {
    expect(dateAndTime("2026-11-30T13:13:13.678000Z", "UTC")).toBe("2026-11-30 13:13:13.678 UTC");
    expect(dateAndTime("2026-11-30T13:13:13.678001Z", "UTC")).toBe("2026-11-30 13:13:13.678001 UTC");
  });
  test("fills fractions that were not sent", () =>
    expect(timeOfDay("2026-11-30T13:13:13Z", "UTC")).toBe("13:13:13.000"));
  test("names the offset of the instant, not of today", () => {
    expect(dateAndTime("2026-07-01T12:00:00Z", berlin, 0)).toBe("2026-07-01 14:00:00 +02:00");
    expect(dateAndTime("2026-12-01T12:00:00Z", berlin, 0)).toBe("2026-12-01 13:00:00 +01:00");
  });
  test("one that cannot be read stands as it was sent, and breaks nothing", () => {
    for (const time of ["12026-11-30T00:00:00Z", "soon"]) {
      for (const say of [timeOfDay, dateAndTime, fullDay, shortDay]) expect(say(time, berlin)).toBe(time);
      expect(nearDay(time, berlin, 0)).toBe(time);
      expect(minutesAgo(time, 0)).toBe(time);
    }
  });
  test("knows half hours and zones behind UTC", () => {
    expect(offsetLabel(Date.parse("2026-11-30T00:00:00Z"), "Asia/Kolkata")).toBe("+05:30");
    expect(offsetLabel(Date.parse("2026-11-30T00:00:00Z"), "America/St_Johns")).toBe("−03:30");
  });
  test("midnight is hour 0 of its day", () =>
    expect(timeOfDay("2026-11-30T00:00:00Z", "UTC", 0)).toBe("00:00:00"));
  test("says a day once in a range within it", () => {
    const range = (from: string, until?: string) =>
      rangeText(from, until, "UTC", Date.parse("2026-11-30T15:02:11Z"));
    expect(range("2026-11-30T14:02:11Z", "2026-11-30T15:02:11Z")).toBe("30 Nov 14:02:11 – 15:02:11");
    expect(range("2026-11-29T15:02:11Z", "2026-11-30T15:02:11Z")).toBe("29 Nov 15:02:11 – 30 Nov 15:02:11");
    expect(range("2026-11-29T15:02:11Z")).toBe("since 29 Nov 15:02:11");
  });
  test("says the years of a range that is not all of this one, or long", () => {
    const range = (from: string, until?: string) =>
      rangeText(from, until, "UTC", Date.parse("2026-12-30T00:00:00Z"));
    expect(range("2025-11-30T12:43:00Z", "2026-11-30T12:45:00Z")).toBe(
      "30 Nov 2025 12:43:00 – 30 Nov 2026 12:45:00",
    );
    expect(range("2025-11-30T12:43:00Z", "2025-11-30T12:45:00Z")).toBe("30 Nov 2025 12:43:00 – 12:45:00");
    expect(range("2026-01-01T00:00:00Z", "2026-12-29T00:00:00Z")).toBe(
      "1 Jan 2026 00:00:00 – 29 Dec 2026 00:00:00",
    );
    expect(range("2025-12-31T00:00:00Z")).toBe("since 31 Dec 2025 00:00:00");
  });
  test("a range tells its offsets where the clock shows a bound twice", () => {
    const range = (from: string, until?: string) =>
      rangeText(from, until, berlin, Date.parse("2026-11-30T00:00:00Z"));
    expect(range("2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z")).toBe(
      "25 Oct 02:30:00 +02:00 – 02:30:00 +01:00",
    );
    expect(range("2026-10-25T01:30:00Z")).toBe("since 25 Oct 02:30:00 +01:00");
    expect(range("2026-10-25T02:30:00Z", "2026-10-26T00:00:00Z")).toBe("25 Oct 03:30:00 – 26 Oct 01:00:00");
  });
  test.each([
    "2026-10-25T00:30:00Z",
    "2026-10-25T01:30:00.25Z",
    "2026-10-25T02:30:00Z",
    "2026-03-29T01:00:00Z",
  ])("what is written of %s is read as the same instant", (time) => {
    const bound = readBound(writtenTime(time, berlin), berlin, 0);
    expect("value" in bound && Date.parse(bound.value)).toBe(Date.parse(time));
  });
  test("a time that the clock skips is said to be taken as a later one", () => {
    expect(readBound("2026-03-29 02:30", berlin, 0)).toEqual({
      value: "2026-03-29T01:30:00Z",
      skipped: "02:30:00 does not exist on 29 Mar, as the clock is set forward: 03:30:00 is taken.",
    });
    expect(readBound("2026-03-29 03:30", berlin, 0)).toEqual({ value: "2026-03-29T01:30:00Z" });
  });
  test("a day begins at its local midnight, also where clocks change", () => {
    expect(new Date(dayStart("2026-10-25T20:00:00Z", berlin)).toISOString()).toBe("2026-10-24T22:00:00.000Z");
    expect(new Date(dayStart("2026-10-26T20:00:00Z", berlin)).toISOString()).toBe("2026-10-25T23:00:00.000Z");
  });
  test("lag is said in one unit, in either direction", () => {
    expect(lag("2026-11-30T15:02:10.951Z", "2026-11-30T15:02:10.989Z")).toBe("38 ms");
    expect(lag("2026-11-30T15:02:10Z", "2026-11-30T15:02:05.900Z")).toBe("4.1 s");
    expect(lag("2026-11-28T15:02:10Z", "2026-11-30T15:02:10Z")).toBe("2 d");
  });
  test("a zone that does not exist is known not to", () => {
    expect(isZone(berlin)).toBe(true);
    expect(isZone("Mars/Olympus")).toBe(false);
  });
});

describe("reading a bound", () => {
  const now = Date.parse("2026-11-30T15:02:11Z");
  const value = (text: string, zone = "UTC") => {
    const bound = readBound(text, zone, now);
    return "value" in bound ? bound.value : "error";
  };
  test.each([
    ["-15m", "-15m"],
    ["-1w", "-1w"],
    ["now", "now"],
    ["2026-11-30T14:05:30Z", "2026-11-30T14:05:30Z"],
    ["2026-11-30t14:05:30.123456+01:00", "2026-11-30T14:05:30.123456+01:00"],
    ["2026-11-30 14:05", "2026-11-30T14:05:00Z"],
    ["2026-11-30 14:05:30.999999", "2026-11-30T14:05:30.999999Z"],
    ["2026-11-30", "2026-11-30T00:00:00Z"],
    ["14:05", "2026-11-30T14:05:00Z"],
    [" 9:05:07 ", "2026-11-30T09:05:07Z"],
  ])("%s is %s", (text, expected) => expect(value(text)).toBe(expected));

  test.each([
    "",
    "yesterday",
    "-1y",
    "0001-01-01 00:00",
    "0001-01-01T00:00:00Z",
    "0999-12-31",
    "2026-02-30",
    "2026-13-01 00:00",
    "25:00",
    "14:60",
    "2026-11-30T14:05:30",
  ])("%j is refused or read as wall time, never misread", (text) =>
    expect(["error", "2026-11-30T14:05:30Z"]).toContain(value(text)),
  );

  test("wall times are of the zone", () => {
    expect(value("2026-11-30 14:05", berlin)).toBe("2026-11-30T13:05:00Z");
    expect(value("14:05", "Asia/Kolkata")).toBe("2026-11-30T08:35:00Z");
  });
  test("today is the zone's today", () => {
    const late = readBound("00:30", "Asia/Tokyo", Date.parse("2026-11-30T20:00:00Z"));
    expect(late).toEqual({ value: "2026-11-30T15:30:00Z" });
  });
  test("an hour that occurs twice is the earlier, one that is skipped moves on", () => {
    expect(value("2026-10-25 02:30", berlin)).toBe("2026-10-25T00:30:00Z");
    expect(value("2026-03-29 02:30", berlin)).toBe("2026-03-29T01:30:00Z");
  });
  test("relative times have a name", () => {
    expect(relative("-1h")).toEqual({ ms: 3_600_000, name: "1 hour" });
    expect(relative("-90m")?.name).toBe("90 minutes");
    expect(relative("-2w")).toEqual({ ms: 14 * 86_400_000, name: "2 weeks" });
    expect(relative("1h")).toBeUndefined();
  });
});

describe("days and lengths", () => {
  test("a day is of the zone, and has its year where another could be meant", () => {
    expect(fullDay("2027-02-28T20:00:00Z", "UTC")).toBe("28 Feb 2027");
    expect(fullDay("2027-02-28T20:00:00Z", "Asia/Kolkata")).toBe("1 Mar 2027");
    const now = Date.parse("2026-12-31T20:00:00Z");
    expect(nearDay("2026-11-14T10:00:00Z", "UTC", now)).toBe("14 Nov");
    expect(nearDay("2025-11-14T10:00:00Z", "UTC", now)).toBe("14 Nov 2025");
    // There the next year has begun.
    expect(nearDay("2026-11-14T10:00:00Z", "Asia/Kolkata", now)).toBe("14 Nov 2026");
  });
  test("the day after one crosses months, years and leap days", () => {
    expect(["2026-11-30", "2026-12-31", "2028-02-28", "2027-02-28"].map(nextDay)).toEqual([
      "2026-12-01",
      "2027-01-01",
      "2028-02-29",
      "2027-03-01",
    ]);
  });
  test("what is known to the minute is told no finer", () => {
    const now = Date.parse("2026-11-30T15:00:00Z");
    const told = (before: number) => minutesAgo(new Date(now - before).toISOString(), now);
    expect([0, -5000, 59_999, 60_000, 3_599_999, 3_600_000, 86_400_000].map(told)).toEqual([
      "under 1 min ago",
      "under 1 min ago",
      "under 1 min ago",
      "1 min ago",
      "59 min ago",
      "1 h ago",
      "1 d ago",
    ]);
  });
  test("a length is told in whole units", () => {
    expect([1000, 90_000, 3_600_000, 8 * 3_600_000, 24 * 3_600_000, 3 * 86_400_000].map(lengthText)).toEqual([
      "1 second",
      "1 minute",
      "1 hour",
      "8 hours",
      "24 hours",
      "3 days",
    ]);
  });
  test("an exact length has two units, the smaller only where it is not nothing", () => {
    const lengths = [0, 1000, 90_000, 5_400_000, 3_600_000, 25 * 3_600_000 + 60_000, 86_460_000];
    expect(lengths.map(exactLength)).toEqual([
      "0 seconds",
      "1 second",
      "1 minute 30 seconds",
      "1 hour 30 minutes",
      "1 hour",
      "1 day 1 hour",
      "1 day",
    ]);
  });
});

test("today is told from other windows, in its zone", () => {
  const now = Date.parse("2026-11-30T15:00:00Z");
  const from = "2026-11-30T00:00:00Z";
  expect(isToday(from, undefined, "UTC", now)).toBe(true);
  expect(isToday(from, "2026-12-01T00:00:00Z", "UTC", now)).toBe(true);
  expect(isToday(from, "2026-11-30T12:00:00Z", "UTC", now)).toBe(false);
  expect(isToday("2026-11-29T00:00:00Z", undefined, "UTC", now)).toBe(false);
  expect(isToday("-1d", undefined, "UTC", now)).toBe(false);
  // In Tokyo it is December already.
  expect(isToday("2026-11-30T15:00:00Z", undefined, "Asia/Tokyo", now)).toBe(true);
  expect(isToday(from, undefined, "Asia/Tokyo", now)).toBe(false);
});
