import { expect, test } from "vitest";
import type { Event } from "#/api/oriel.gen.ts";
import { lanesOf, spanText } from "./lanes.ts";

const event = (source: string, time: string, type = "t"): Event => ({
  name: `events/${source}:${time}`,
  id: time,
  source,
  type,
  time: `2026-11-30T15:02:${time}Z`,
  occurredAt: `2026-11-30T15:02:${time}Z`,
  ingestTime: `2026-11-30T15:02:${time}Z`,
  tags: [],
  facets: {},
  summary: "",
  dataKind: "json",
  dataSize: 2,
  position: { topic: "events", log: 1, partition: 0, offset: "1", commit: "1" },
});

const anchor = event("/b", "10.000");

test("each source has a lane, the event's own first, and the event is in the middle", () => {
  const others = [event("/a", "10.500"), event("/a", "09.500"), event("/c", "10.250")];
  const { lanes, span } = lanesOf(anchor, others, "subject");
  expect(span).toBe(500);
  expect(lanes.map(({ label, marks }) => [label, marks.map(({ at }) => at)])).toEqual([
    ["/b", [0.5]],
    ["/a", [1, 0]],
    ["/c", [0.75]],
  ]);
  expect(lanes[0]?.marks[0]?.anchor).toBe(true);
});

test("around one of its source the lanes are types", () => {
  const { lanes } = lanesOf(anchor, [event("/b", "10.500", "u")], "source");
  expect(lanes.map(({ label }) => label)).toEqual(["t", "u"]);
});

test("what is beyond five lanes shares the last", () => {
  const others = ["a", "c", "d", "e", "f", "g"].map((name) => event(`/${name}`, "11.000"));
  const { lanes } = lanesOf(anchor, others, "all");
  expect(lanes).toHaveLength(5);
  expect(lanes[4]).toMatchObject({ label: undefined });
  expect(lanes[4]?.marks).toHaveLength(3);
});

test("an event at the same instant stands in the middle as well", () => {
  const { lanes, span } = lanesOf(anchor, [event("/b", "10.000", "u")], "subject");
  expect([span, lanes[0]?.marks.map(({ at }) => at)]).toEqual([1, [0.5, 0.5]]);
});

test("lengths are told in the unit that fits", () => {
  expect([500, 2500, 150_000, 7_200_000, 172_800_000].map(spanText)).toEqual([
    "500 ms",
    "2.5 s",
    "2.5 min",
    "2 h",
    "2 d",
  ]);
});
