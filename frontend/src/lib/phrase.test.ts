import { describe, expect, test } from "vitest";
import { phraseExamples, readPhrase } from "./phrase.ts";

// A Monday.
const now = Date.parse("2026-11-30T15:02:11Z");
const read = (text: string, zone = "UTC") => readPhrase(text, zone, now);

describe("a phrase is a window", () => {
  test.each<[string, string, string | undefined]>([
    ["last monday at 3pm to now", "2026-11-23T15:00:00Z", "now"],
    ["monday", "2026-11-30T00:00:00Z", undefined],
    ["last monday", "2026-11-23T00:00:00Z", "2026-11-24T00:00:00Z"],
    ["fri to sunday", "2026-11-27T00:00:00Z", "2026-11-30T00:00:00Z"],
    ["today", "2026-11-30T00:00:00Z", undefined],
    ["Yesterday", "2026-11-29T00:00:00Z", "2026-11-30T00:00:00Z"],
    ["yesterday 14:00 to 15:30", "2026-11-29T14:00:00Z", "2026-11-29T15:30:00Z"],
    ["yesterday noon - today 9am", "2026-11-29T12:00:00Z", "2026-11-30T09:00:00Z"],
    ["30 nov 14:00 – 15:00", "2026-11-30T14:00:00Z", "2026-11-30T15:00:00Z"],
    ["Nov 28, 2026", "2026-11-28T00:00:00Z", "2026-11-29T00:00:00Z"],
    ["24 december", "2025-12-24T00:00:00Z", "2025-12-25T00:00:00Z"],
    ["1st of november to 3rd of november", "2026-11-01T00:00:00Z", "2026-11-04T00:00:00Z"],
    ["2026-11-28 to 2026-11-29", "2026-11-28T00:00:00Z", "2026-11-30T00:00:00Z"],
    ["2026-11-28T10:30 to 2026-11-28 11:00:00.250", "2026-11-28T10:30:00Z", "2026-11-28T11:00:00.250Z"],
    ["2026-11-28T10:30:00+01:00 to now", "2026-11-28T10:30:00+01:00", "now"],
    ["since 9am", "2026-11-30T09:00:00Z", undefined],
    ["16:00", "2026-11-29T16:00:00Z", undefined],
    ["since 4pm", "2026-11-29T16:00:00Z", undefined],
    ["16:00 to 17:00", "2026-11-29T16:00:00Z", "2026-11-29T17:00:00Z"],
    ["4pm to now", "2026-11-29T16:00:00Z", "now"],
    ["14:00 to 16:00", "2026-11-30T14:00:00Z", "2026-11-30T16:00:00Z"],
    ["today 16:00 to 17:00", "2026-11-30T16:00:00Z", "2026-11-30T17:00:00Z"],
    ["now-1h", "-1h", undefined],
    ["now-2d to now-1d", "-2d", "-1d"],
    ["since yesterday", "2026-11-29T00:00:00Z", undefined],
    ["from 9:15 to 9:45", "2026-11-30T09:15:00Z", "2026-11-30T09:45:00Z"],
    ["22:00 to 06:00", "2026-11-29T22:00:00Z", "2026-11-30T06:00:00Z"],
    ["2pm to 9am", "2026-11-30T14:00:00Z", "2026-12-01T09:00:00Z"],
    ["yesterday 22:00 to 6am", "2026-11-29T22:00:00Z", "2026-11-30T06:00:00Z"],
    ["between 12 am and 12 pm", "2026-11-30T00:00:00Z", "2026-11-30T12:00:00Z"],
    ["this week", "2026-11-30T00:00:00Z", undefined],
    ["last week", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"],
    ["last month", "2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"],
    ["december", "2025-12-01T00:00:00Z", "2026-01-01T00:00:00Z"],
    ["15m", "-15m", undefined],
    ["-15m", "-15m", undefined],
    ["last 15 minutes", "-15m", undefined],
    ["past 2 hours", "-2h", undefined],
    ["last hour", "-1h", undefined],
    ["past week", "-1w", undefined],
    ["past month", "-30d", undefined],
    ["2 hours ago to 1 hour ago", "-2h", "-1h"],
    ["an hour ago", "-1h", undefined],
    ["3 days ago to yesterday", "-3d", "2026-11-30T00:00:00Z"],
  ])("%s", (text, from, until) => expect(read(text)).toEqual({ from, until }));

  test("every example that is shown can be read", () => {
    for (const example of phraseExamples) expect(read(example)).not.toHaveProperty("error");
  });

  test("its days and clocks are the zone's, also where they are 23 or 25 hours long", () => {
    expect(read("today", "Asia/Kolkata")).toEqual({ from: "2026-11-29T18:30:00Z", until: undefined });
    // In Auckland it is Tuesday.
    expect(read("yesterday", "Pacific/Auckland")).toEqual({
      from: "2026-11-29T11:00:00Z",
      until: "2026-11-30T11:00:00Z",
    });
    expect(read("25 october", "Europe/Berlin")).toEqual({
      from: "2026-10-24T22:00:00Z",
      until: "2026-10-25T23:00:00Z",
    });
  });
});

test.each([
  "",
  "soon",
  "30",
  "31 november",
  "2026-02-30",
  "25:00",
  "13pm",
  "to",
  "now",
  "last week at 3pm to now",
  "today to yesterday 9am",
  "1 hour ago to 2 hours ago",
  "a to b to c",
  "0m",
  "__proto__",
])("“%s” is refused", (text) => expect(read(text)).toHaveProperty("error"));

test("a time of day that the clock skips is told", () => {
  const now = Date.parse("2026-04-10T00:00:00Z");
  const told = (text: string) => {
    const read = readPhrase(text, "Europe/Berlin", now);
    return "error" in read ? read.error : read.skipped;
  };
  expect(told("29 mar 02:30 to 29 mar 04:00")).toMatch(/^02:30:00 does not exist on 29 Mar, .* 03:30:00/);
  expect(told("29 mar 01:30 to 29 mar 04:00")).toBeUndefined();
  expect(told("29 mar")).toBeUndefined();
});
