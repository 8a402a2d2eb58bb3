import { expect, test } from "vitest";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { drain } from "#/lib/slices.ts";
import { compareEvents, excerpt } from "./compare.ts";

function detail(event: Partial<EventDetail["event"]>, more: Partial<EventDetail> = {}): EventDetail {
  return {
    event: { type: "t", source: "/s", id: "1", time: "t", tags: [], dataKind: "json", ...event },
    extensions: {},
    ...more,
  } as unknown as EventDetail;
}

const compare = (left: EventDetail, right: EventDetail) => {
  const { differences, ...rest } = drain(compareEvents(left, right));
  const changed = differences.filter(({ same }) => !same).map(({ path, left: a, right: b }) => [path, a, b]);
  return { changed, ...rest };
};

test("attributes, extensions and values of the data are compared, each as it was sent", () => {
  const left = detail(
    { subject: "a" },
    { dataText: '{"n":1.0,"m":1}', extensions: { x: { type: "integer", value: "1" } } },
  );
  const right = detail(
    { id: "2" },
    { dataText: '{"n":1,"m":1}', extensions: { x: { type: "integer", value: "2" } } },
  );
  expect(compare(left, right)).toEqual({
    changed: [
      ["subject", "a", undefined],
      ["id", "1", "2"],
      ["ext.x", "1", "2"],
      ["data.n", "1.0", "1"],
    ],
    whole: false,
    sameData: false,
  });
});

test("data that are no JSON are compared as a whole", () => {
  const text = detail({ dataKind: "text" }, { dataText: "a" });
  const bytes = detail({ dataKind: "binary" }, { dataBase64: "/wA=" });
  expect(compare(text, bytes)).toEqual({ changed: [["data", "a", "/wA="]], whole: true, sameData: false });
  expect(compare(bytes, bytes)).toEqual({ changed: [], whole: true, sameData: true });
});

test("text and bytes of the same letters are not the same data", () => {
  const text = detail({ dataKind: "text" }, { dataText: "/wA=" });
  const bytes = detail({ dataKind: "text" }, { dataBase64: "/wA=" });
  expect(compare(text, bytes).changed).toEqual([["data", "/wA=", "/wA="]]);
});

test("data that only claim to be JSON are compared as a whole", () => {
  const broken = detail({}, { dataText: '{"a":' });
  expect(compare(broken, detail({}, { dataText: "{}" })).whole).toBe(true);
});

test("of a long value the part around the first difference is shown, never half a character", () => {
  const long = `${"x".repeat(1000)}A${"y".repeat(1000)}`;
  const part = excerpt(long, long.replace("A", "B"));
  expect(part.text).toContain("xAy");
  expect(part).toMatchObject({ from: 940, cut: true });
  expect(excerpt("short", "other")).toEqual({ text: "short", from: 0, cut: false });
  const emoji = "😀".repeat(600);
  expect(excerpt(emoji, `${emoji.slice(0, 601)}x`).text.isWellFormed()).toBe(true);
});
