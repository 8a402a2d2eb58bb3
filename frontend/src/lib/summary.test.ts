import { expect, test } from "vitest";
import { jsonParts, summarise } from "./summary.ts";

const text = (line: string) => jsonParts(line).map(({ kind, text }) => (kind === "key" ? `${text}:` : text));

test("tells keys from values and keeps every spelling", () => {
  expect(
    text(String.raw`{"id":9007199254740993,"a b":"x\u0000\"y","n":null,"l":["p","q"],"e":{},"o":{"k":-0}}`),
  ).toEqual([
    "id:",
    "9007199254740993",
    "a b:",
    String.raw`x\u0000\"y`,
    "n:",
    "null",
    "l:",
    "p",
    "q",
    "e:",
    "{}",
    "o:",
    "k:",
    "-0",
  ]);
});

test("takes a line that is cut anywhere", () => {
  const whole = `{"orderId":"ord-1","tags":["a","b"],"x":{"y":12.50}}`;
  for (let end = 1; end <= whole.length; end++) {
    const parts = text(`${whole.slice(0, end)}…`);
    expect(parts.length).toBeGreaterThan(0);
  }
  expect(text(`{"orderId":"ord-…`)).toEqual(["orderId:", "ord-…"]);
});

test("a string with a colon behind its end is a key, one with a colon inside is not", () => {
  expect(text(`["a:b","c"]`)).toEqual(["a:b", "c"]);
});

test("says what cannot be read, with type, size and first bytes", () => {
  const event = {
    dataKind: "binary",
    dataContentType: "image/jpeg",
    dataSize: 48211,
    summary: "binary, image/jpeg, 48211 bytes, ffd8ffe0…",
  } as const;
  expect(summarise(event)).toEqual({
    badge: "binary",
    parts: [{ kind: "value", text: "image/jpeg · 48,211 B · ff d8 ff e0" }],
  });
});

test("no data and zero bytes are two things", () => {
  const kinds = (["absent", "empty"] as const).map(
    (dataKind) => summarise({ dataKind, dataSize: 0, summary: "" }).badge,
  );
  expect(kinds).toEqual(["no data", "empty"]);
});

test("what says something stands first, what a column has already stands last", () => {
  const event = {
    dataKind: "json",
    dataSize: 90,
    subject: "oven-2",
    severity: "warning",
    summary:
      '{"deviceId":"oven-2","severity":"warning","room":{"message":"inner"},"n":1,"Message":"door open"}',
  } as const;
  expect(
    summarise(event)
      .parts.map(({ text }) => text)
      .join(" "),
  ).toBe("Message door open room message inner n 1 deviceId oven-2 severity warning");
  const cut = { ...event, summary: '{"deviceId":"oven-2","reason":"time…' };
  expect(
    summarise(cut)
      .parts.map(({ text }) => text)
      .join(" "),
  ).toBe("reason time… deviceId oven-2");
  const list = { ...event, summary: '["b",{"message":"x"},"a"]' };
  expect(
    summarise(list)
      .parts.map(({ text }) => text)
      .join(" "),
  ).toBe("b message x a");
});
