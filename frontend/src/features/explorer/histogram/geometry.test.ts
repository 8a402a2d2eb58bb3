import { expect, test } from "vitest";
import type { Bucket, Histogram } from "#/api/oriel.gen.ts";
import { boundsOf, chartHeight, paths, rangeLabel, seriesOf, ticks, widened } from "./geometry.ts";

function minutes(count: number, offset = "Z", start = Date.parse("2026-11-30T14:02:00Z")): Bucket[] {
  const shift = offset === "Z" ? 0 : Number.parseInt(offset.slice(0, 3), 10) * 3_600_000;
  const at = (index: number) =>
    new Date(start + shift + index * 60_000).toISOString().replace(".000Z", `.000000${offset}`);
  return Array.from({ length: count }, (_, index) => ({
    from: at(index),
    until: at(index + 1),
    count: index,
    errors: 0,
  }));
}

const exact = { value: 6, relation: "exact", covered: { from: "2026-11-30T14:02:00Z" } } as const;

test("severities lie by their rank whatever their order, and what has none lies below them", () => {
  const bucket = { ...minutes(1)[0], count: 10, errors: 3, split: [3, 5, 1], rest: 1 } as Bucket;
  const histogram: Histogram = {
    buckets: [bucket],
    interval: "1m",
    zone: "UTC",
    splitBy: "severity",
    split: ["error", "info", "critical"],
    total: exact,
    snapshot: "s",
  };
  const layers = seriesOf(histogram);
  expect(layers.map(({ label, total }) => [label, total])).toEqual([
    ["none", 1],
    ["info", 5],
    ["error", 3],
    ["critical", 1],
  ]);
  expect(layers.map(({ hatched }) => hatched)).toEqual([false, false, false, true]);
});

test("a single event beside thousands is still a pixel high, and no bar grows out of the drawing", () => {
  const bucket = { ...minutes(1)[0], count: 100_001, errors: 1 } as Bucket;
  const histogram = {
    buckets: [bucket],
    interval: "1m",
    zone: "UTC",
    total: exact,
    snapshot: "s",
  } as Histogram;
  const layers = seriesOf(histogram);
  const [calm, errors] = paths(layers, histogram.buckets);
  expect(calm).toBe(`M1 ${chartHeight}h8V1h-8z`);
  expect(errors).toBe("M1 1h8V0h-8z");
});

test("a selection is the bars' time, cut to the window at both ends", () => {
  const buckets = minutes(60, "+01:00");
  const window = { from: "2026-11-30T14:02:11.204512Z", until: "2026-11-30T15:01:30Z" };
  expect(boundsOf(buckets, 0, 2, window)).toEqual({ from: window.from, until: "2026-11-30T14:05:00Z" });
  expect(boundsOf(buckets, 3, 3, window)).toEqual({
    from: "2026-11-30T14:05:00Z",
    until: "2026-11-30T14:06:00Z",
  });
  expect(boundsOf(buckets, 58, 59, window)).toEqual({ from: "2026-11-30T15:00:00Z", until: window.until });
  expect(boundsOf(buckets, 60, 61, window)).toBeUndefined();
});

test("zooming out doubles the window, and one that reaches the present stays open", () => {
  const now = Date.parse("2026-11-30T15:00:00Z");
  expect(widened({ from: "2026-11-30T10:00:00Z", until: "2026-11-30T11:00:00Z" }, now)).toEqual({
    from: "2026-11-30T09:30:00Z",
    until: "2026-11-30T11:30:00Z",
  });
  expect(widened({ from: "2026-11-30T14:00:00Z", until: undefined }, now)).toEqual({
    from: "2026-11-30T13:00:00Z",
    until: undefined,
  });
  expect(widened({ from: "2026-11-30T14:00:00Z", until: "2026-11-30T14:50:00Z" }, now).until).toBeUndefined();
});

test("named buckets are at round times of the zone's clock, and a day begins with its date", () => {
  expect(ticks(minutes(60), "1m", 8).map(({ label }) => label)).toEqual([
    "14:10",
    "14:20",
    "14:30",
    "14:40",
    "14:50",
    "15:00",
  ]);
  const night = minutes(60, "Z", Date.parse("2026-11-30T23:30:00Z"));
  expect(ticks(night, "1m", 4).map(({ label }) => label)).toEqual(["23:30", "23:45", "1 Dec", "00:15"]);
  expect(ticks([], "1m", 8)).toEqual([]);
});

test("where few names have room for many days they are days", () => {
  const at = (hours: number) =>
    new Date(Date.parse("2026-11-24T03:00:00Z") + hours * 3_600_000).toISOString().replace(".000Z", "Z");
  const week = Array.from({ length: 56 }, (_, index) => ({
    from: at(3 * index),
    until: at(3 * index + 3),
    count: 1,
    errors: 0,
  }));
  expect(ticks(week, "3h", 3).map(({ label }) => label)).toEqual(["27 Nov", "30 Nov"]);
});

const ranges = {
  "of one day the date stands once": [
    "2026-11-30T14:31:00.000000Z",
    "2026-11-30T14:38:00.000000Z",
    "1m",
    "30 Nov 14:31 – 14:38",
  ],
  "seconds are said where the bars are of seconds": [
    "2026-11-30T14:31:00.000000Z",
    "2026-11-30T14:31:05.000000Z",
    "5s",
    "30 Nov 14:31:00 – 14:31:05",
  ],
  "a day is its date": ["2026-11-30T00:00:00.000000Z", "2026-12-01T00:00:00.000000Z", "1d", "30 Nov"],
  "a day of 25 hours too": [
    "2026-10-25T00:00:00.000000+02:00",
    "2026-10-26T00:00:00.000000+01:00",
    "1d",
    "25 Oct",
  ],
  "an hour that the clock shows twice has its offsets": [
    "2026-10-25T02:00:00.000000+02:00",
    "2026-10-25T02:00:00.000000+01:00",
    "1h",
    "25 Oct 02:00 +02:00 – 02:00 +01:00",
  ],
  "a month is its name": ["2026-11-01T00:00:00.000000Z", "2026-12-01T00:00:00.000000Z", "1M", "Nov 2026"],
} as const;

test.each(Object.entries(ranges))("%s", (_, [from, until, interval, said]) => {
  expect(rangeLabel(from, until, interval)).toBe(said);
});

test("an hour that the clock shows twice is named with its offset, and no other", () => {
  const hour = (from: string, until: string): Bucket => ({ from, until, count: 0, errors: 0 });
  const times = [
    "2026-10-25T01:00:00.000000+02:00",
    "2026-10-25T02:00:00.000000+02:00",
    "2026-10-25T02:00:00.000000+01:00",
    "2026-10-25T03:00:00.000000+01:00",
    "2026-10-25T04:00:00.000000+01:00",
  ];
  const buckets = times.slice(1).map((until, index) => hour(times[index] ?? "", until));
  expect(ticks(buckets, "1h", 8).map(({ label }) => label)).toEqual([
    "01:00",
    "02:00 +02:00",
    "02:00 +01:00",
    "03:00",
  ]);
});
