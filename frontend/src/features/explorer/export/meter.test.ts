import { describe, expect, it } from "vitest";
import { type Format, meterOf } from "./meter.ts";

const encoder = new TextEncoder();

/** Fed in pieces of every length, as the network cuts them. */
function measure(format: Format, text: string, size: number) {
  const meter = meterOf(format);
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length; at += size) meter.feed(bytes.subarray(at, at + size));
  return { meter, verdict: meter.end() };
}

const header = '{"header":{"query":"tea"}}\n';
const event = '{"id":"ä\\n","data":{"trailer":true}}\n';
const trailer = (more: string) => `{"trailer":{${more}}}\n`;

describe.each([1, 7, 1024])("an export that comes in pieces of %i bytes", (size) => {
  it.each([
    [
      "is whole with a trailer that says so",
      trailer('"complete":true,"count":2'),
      { complete: true, reason: undefined },
    ],
    ["is cut without a trailer", "", { complete: false, reason: undefined }],
    ["is cut within its trailer", '{"trailer":{"complete":true,"cou', { complete: false, reason: undefined }],
    [
      "is cut where its last line has no end",
      trailer('"complete":true,"count":2').trim(),
      { complete: false, reason: undefined },
    ],
    [
      "is cut where the trailer gives a reason",
      trailer('"complete":false,"count":2,"reason":"SNAPSHOT_EXPIRED"'),
      { complete: false, reason: "SNAPSHOT_EXPIRED" },
    ],
    [
      "is cut where the trailer counts others",
      trailer('"complete":true,"count":3'),
      { complete: false, reason: "Its last line counts 3 events." },
    ],
  ])("as NDJSON %s", (_, end, expected) => {
    const { verdict } = measure("ndjson", header + event + event + end, size);
    expect(verdict).toMatchObject({ ...expected, events: 2 });
  });

  it("as CSV counts records and not the lines in their cells", () => {
    const { meter, verdict } = measure("csv", 'id,data\r\n1,"a\nb"\r\n2,"say ""x\n"""\r\n', size);
    expect(verdict).toEqual({ complete: true, events: 2, reason: undefined });
    expect(meter.events).toBe(2);
  });

  it("as CSV is cut within a cell, or before its header", () => {
    expect(measure("csv", 'id,data\r\n1,"a', size).verdict.complete).toBe(false);
    expect(measure("csv", "", size).verdict.complete).toBe(false);
  });
});

it("finds the trailer after events longer than it can be", () => {
  const long = `{"data":"${"x".repeat(50_000)}"}\n`;
  const { meter, verdict } = measure("ndjson", header + long + trailer('"complete":true,"count":1'), 4096);
  expect(verdict).toEqual({ complete: true, events: 1, reason: undefined });
  expect(meter.bytes).toBeGreaterThan(50_000);
});
