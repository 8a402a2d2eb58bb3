import { describe, expect, test } from "vitest";
import type { CodeDocument } from "./code.ts";
import * as code from "./code.ts";
import { layoutJson } from "./json.ts";
import { drain } from "./slices.ts";
import { columnsOf } from "./visible.ts";

const rawDocument = (text: string, columns: number) => drain(code.rawDocument(text, columns));
const hexDocument = (bytes: Uint8Array, perRow: number) => drain(code.hexDocument(bytes, perRow));

/** The source that all rows together stand for. */
function covered(document: CodeDocument): string {
  let text = "";
  for (let index = 0; index < document.rows; index++) {
    for (const { start, units } of document.row(index))
      if (start >= 0) text += document.slice(start, start + units);
  }
  return text;
}

function shown(document: CodeDocument, index: number): string {
  return document
    .row(index)
    .map(({ text }) => text)
    .join("");
}

describe("raw", () => {
  const cases: Record<string, string> = {
    "one line": `{"a":1}`,
    "lines of every kind of end": "a\r\nb\n\nc\rd\n",
    "control characters": "\u001b[32mopen\u0000\u007f\u0085",
    "text without a line end for many rows": "lorem ipsum ".repeat(500),
    "wide characters and pairs": "カード😀".repeat(40),
    "lone surrogates and bidirectional controls": "a\ud800b\u202ec\ufeff",
    nothing: "",
  };
  for (const [sentence, text] of Object.entries(cases)) {
    test(`shows all of ${sentence}, and nothing twice`, () => {
      expect(covered(rawDocument(text, 40))).toBe(text);
    });
  }

  test("breaks no row wider than its columns", () => {
    const document = rawDocument("カード😀 abc ".repeat(100), 40);
    for (let index = 0; index < document.rows; index++) {
      expect(columnsOf(shown(document, index))).toBeLessThanOrEqual(40);
    }
  });

  test("marks line ends, and an end at the end of the text opens one more row", () => {
    const document = rawDocument("a\n", 40);
    expect(document.rows).toBe(2);
    expect(shown(document, 0)).toBe("a↵");
  });

  test("names what would be invisible", () => {
    expect(shown(rawDocument("a\u0000\u001b\t\u202eb", 40), 0)).toBe("aNULESCTABRLOb");
  });
});

describe("pretty", () => {
  const pretty = (text: string, columns = 60, whole?: ReadonlySet<number>) =>
    drain(code.prettyDocument(text, layoutJson(text), columns, whole));

  test("shows every token but commas and colons from the source", () => {
    const text = `{"id":9007199254740993,"s":"${"long ".repeat(100)}","e":{},"l":[true,null]}`;
    expect(covered(pretty(text))).toBe(text.replaceAll(/,|(?<="):/g, ""));
  });

  test("wraps a long value and keeps its characters", () => {
    const value = `"${"0123456789".repeat(60)}"`;
    const document = pretty(`{"key":${value}}`);
    expect(document.rows).toBeGreaterThan(10);
    for (let index = 0; index < document.rows; index++) {
      expect(columnsOf(shown(document, index))).toBeLessThanOrEqual(60);
    }
  });

  test("ends a string of more than 8 KiB early, until all of it is asked for", () => {
    const text = `{"a":"${"x".repeat(9000)}","b":1}`;
    const document = pretty(text);
    expect(document.rows).toBeLessThan(12);
    const rows = Array.from({ length: document.rows }, (_, index) => document.row(index));
    const more = rows.flat().find(({ kind }) => kind === "more");
    expect(more).toMatchObject({ text: "Show all 9,000 characters", units: 1 });
    expect(covered(pretty(text, 60, new Set([1])))).toBe(text.replaceAll(/,|(?<="):/g, ""));
  });

  const escapes: readonly (readonly [string, ...string[]])[] = [
    ["x\\u0000y", "\\u0000"],
    ["x\\\\u0000y"],
    ["x\\\\\\u0000y", "\\u0000"],
    ["\\ud800", "\\ud800"],
    ["\\udc00\\ud83d\\ude00", "\\udc00"],
    ["\\u202e\\u00e9\\n", "\\u202e"],
  ];
  for (const [body, ...marked] of escapes) {
    test(`of "${body}" the escapes that stand out are: ${marked.join(", ") || "none"}`, () => {
      const fragments = pretty(`"${body}"`).row(0);
      expect(fragments.filter(({ kind }) => kind === "escape").map(({ text }) => text)).toEqual(marked);
      expect(covered(pretty(`"${body}"`))).toBe(`"${body}"`);
    });
  }

  test("says how deep it is where it indents no further", () => {
    const document = pretty(`${"[".repeat(500)}1${"]".repeat(500)}`);
    const line = shown(document, 500);
    expect(line).toContain("500 ");
    expect(line.trimEnd().endsWith("1")).toBe(true);
    expect(columnsOf(line)).toBeLessThanOrEqual(60);
  });

  test("puts badges after the comma", () => {
    const document = pretty(`{"a":1,"a":9007199254740993,"b":2}`);
    expect(
      document
        .row(2)
        .map(({ kind }) => kind)
        .slice(-3),
    ).toEqual(["punct", "duplicate", "exact"]);
  });

  test("lays a megabyte out in seconds at most, whatever its shape: the cost is linear", () => {
    const shapes = [
      `[${"1,".repeat(500_000)}1]`,
      `{"s":"${"lorem ipsum ".repeat(85_000)}"}`,
      `[${`{"n":1},`.repeat(120_000)}{}]`,
    ];
    for (const text of shapes) {
      const start = performance.now();
      const document = pretty(text);
      shown(document, document.rows - 1);
      expect(performance.now() - start).toBeLessThan(5000);
    }
  });
});

describe("hex", () => {
  test("shows offset, bytes and what of them is ASCII", () => {
    const document = hexDocument(Uint8Array.from([0xff, 0xd8, 0x41, 0x00, 0x20]), 8);
    expect(shown(document, 0)).toBe("000000  ff d8 41 00  20           ··A· ");
  });
  test("has one row for each started width", () => {
    expect(hexDocument(new Uint8Array(17), 16).rows).toBe(2);
    expect(shown(hexDocument(new Uint8Array(17), 16), 1)).toMatch(/^000010 {2}00 /);
  });
});
