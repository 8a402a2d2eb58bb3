import { describe, expect, test } from "vitest";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { asJson, asLine, asReadCommand, asSendCommand } from "./cloudevent.ts";

const odd = String.raw`{"id":9007199254740993,"neg":-9222742375320771188,"f":1.0,"z":-0,"e":1E2,
 "b":1, "a":2, "b":3, "nul":"x\u0000y","six":"x\\u0000y","lone":"\ud800","pair":"\ud83d\ude00","o":{ },"l":[ ]}`;

function detail(event: Partial<EventDetail["event"]>, rest: Partial<EventDetail> = {}): EventDetail {
  return {
    event: {
      name: "events/%2Fa:1",
      id: "it's $(id) 1",
      source: "/a",
      type: "t.v1",
      time: "2026-11-30T16:02:10.951+01:00",
      occurredAt: "2026-11-30T15:02:10.951000Z",
      ingestTime: "2026-11-30T15:02:10.989Z",
      tags: [],
      facets: {},
      summary: "",
      dataContentType: "application/json",
      dataKind: "json",
      dataSize: 1,
      position: { topic: "t", log: 1, partition: 0, offset: "1", commit: "1" },
      ...event,
    },
    extensions: {
      retry: { type: "integer", value: "1" },
      dry: { type: "boolean", value: "false" },
      note: { type: "string", value: "<script>\u0007" },
    },
    headers: [],
    contentMode: "binary",
    others: [],
    dataText: odd,
    ...rest,
  };
}

describe("an event as JSON", () => {
  test("has the data exactly as it was received", () => {
    expect(asJson(detail({}))).toContain(`  "data": ${odd}\n}`);
  });

  test("has the attributes as they were sent, and extensions in their types", () => {
    const { data, ...attributes } = JSON.parse(asJson(detail({ subject: "" }))) as Record<string, unknown>;
    expect(attributes).toEqual({
      specversion: "1.0",
      id: "it's $(id) 1",
      source: "/a",
      type: "t.v1",
      subject: "",
      time: "2026-11-30T16:02:10.951+01:00",
      datacontenttype: "application/json",
      retry: 1,
      dry: false,
      note: "<script>\u0007",
    });
    expect(data).toMatchObject({ nul: "x\u0000y", six: String.raw`x\u0000y` });
  });

  test("is one line as NDJSON, with every token as it was spelled", () => {
    const line = asLine(detail({}));
    expect(line).not.toMatch(/[\r\n]/);
    expect(line).toContain(`"data":${odd.replaceAll(/\s(?!9)/g, "")}}`);
    expect(JSON.parse(line)).toEqual(JSON.parse(asJson(detail({}))));
  });

  const kinds: Record<string, readonly [EventDetail, Record<string, unknown>]> = {
    "text is a string": [
      detail({ dataKind: "text", dataContentType: "text/plain" }, { dataText: "a\n\u2028b" }),
      { data: "a\n\u2028b" },
    ],
    "text without a content type is bytes, as it would be taken for JSON": [
      detail({ dataKind: "text", dataContentType: undefined as never }, { dataText: "hi" }),
      { data_base64: "aGk=" },
    ],
    "malformed JSON is bytes": [detail({ dataKind: "invalid" }, { dataText: "{é" }), { data_base64: "e8Op" }],
    "binary data is bytes": [
      detail({ dataKind: "binary" }, { dataText: undefined as never, dataBase64: "/9j/" }),
      { data_base64: "/9j/" },
    ],
    "no data is none": [detail({ dataKind: "absent" }, { dataText: undefined as never }), {}],
    "zero bytes are there": [detail({ dataKind: "empty" }, { dataText: "" }), { data_base64: "" }],
  };
  for (const [sentence, [event, expected]] of Object.entries(kinds)) {
    test(sentence, () => {
      const whole = JSON.parse(asLine(event)) as Record<string, unknown>;
      const { data, data_base64 } = whole;
      expect({ ...("data" in whole && { data }), ...("data_base64" in whole && { data_base64 }) }).toEqual(
        expected,
      );
    });
  }
});

describe("commands", () => {
  test("reading names the event, and nothing in it is for the shell", () => {
    const address = "https://oriel.example.com/v1/events/%2Fa:it's$(id)`id`?time=1";
    expect(asReadCommand(address)).toBe(
      `curl -sS -H "Authorization: Bearer $ORIEL_TOKEN" 'https://oriel.example.com/v1/events/%2Fa:it'\\''s$(id)\`id\`?time=1'`,
    );
  });

  test("publishing sends the event as it is, in a document that nothing in it can end", () => {
    const event = detail({ id: "'; $(touch x) `id`\nORIEL_EVENT\n" });
    const [command, ...document] = asSendCommand(event, "https://oriel.example.com/v1/events").split("\n");
    expect(command).toMatch(/--data-binary @- 'https:\/\/oriel\.example\.com\/v1\/events' <<'ORIEL_EVENT'$/);
    expect(document).toEqual([asLine(event), "ORIEL_EVENT"]);
  });
});
