import { describe, expect, test } from "vitest";
import { prettyText } from "./code.ts";
import { fitsDouble, JsonFault, layoutJson } from "./json.ts";
import type { JsonLayout } from "./json-layout.ts";

const print = (text: string) => prettyText(text, layoutJson(text));

/** All tokens in order, which is what must survive printing. */
function tokens(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|[-+.\w]+|[{}[\]:,]/g) ?? [];
}

describe("printing JSON", () => {
  const cases: Record<string, string> = {
    "keeps the spelling of numbers": `{"id":9007199254740993,"neg":-9222742375320771188,"f":1.0,"z":-0,"e":1E2,"p":1e+2}`,
    "keeps the order of keys and every duplicate": `{"b":1,"aa":2,"a":3,"b":4}`,
    "keeps escapes as they are spelled": String.raw`{"a":"x\u0000y","b":"x\\u0000y","c":"\ud800","d":"\ud83d\ude00","e":"\/"}`,
    "keeps what is not ASCII": `{"メモ":"カード","é":"😀"}`,
    "prints scalars alone": `"one"`,
    "prints empty containers": `{"a":{},"b":[],"c":[{}]}`,
  };
  for (const [sentence, text] of Object.entries(cases)) {
    test(sentence, () => expect(tokens(print(text))).toEqual(tokens(text)));
  }

  test("puts one member on a line, two spaces a level", () => {
    expect(print(`{"a":[1,{"b":null}],"c":{}}`)).toBe(
      ["{", '  "a": [', "    1,", "    {", '      "b": null', "    }", "  ],", '  "c": {}', "}"].join("\n"),
    );
  });

  test("means the same to a parser as what was received", () => {
    const text = ` [ true , { "a" : [ ] , "b\\"" : "\\\\" } , -1.5e-7 ]\n`;
    expect(JSON.parse(print(text))).toEqual(JSON.parse(text));
  });

  test("drops white space inside an empty container only from view", () => {
    const layout = layoutJson("{ \n }");
    expect(layout.length).toBe(1);
    expect(layout.at(0)).toMatchObject({ valueStart: 0, valueEnd: 5 });
  });
});

describe("marks", () => {
  const duplicates = (text: string) => flagged(layoutJson(text), text, "duplicate");
  const exacts = (text: string) => flagged(layoutJson(text), text, "exact");

  function flagged(layout: JsonLayout, text: string, flag: "duplicate" | "exact"): string[] {
    return Array.from({ length: layout.length }, (_, index) => layout.at(index))
      .filter((line) => line[flag])
      .map((line) => text.slice(line.valueStart, line.valueEnd));
  }

  test("the later of two equal keys is a duplicate", () => {
    expect(duplicates(`{"code":"51","code":"05"}`)).toEqual([`"05"`]);
  });
  test("two spellings of one key are one key", () => {
    expect(duplicates(String.raw`{"a":1,"\u0061":2}`)).toEqual(["2"]);
  });
  test("the same key in another object is none", () => {
    expect(duplicates(`[{"a":1},{"a":{"a":2}}]`)).toEqual([]);
  });
  test("keys of Object.prototype are keys like others", () => {
    expect(duplicates(`{"__proto__":1,"constructor":2,"__proto__":3}`)).toEqual(["3"]);
  });
  test("a number that a double cannot hold is exact", () => {
    expect(exacts(`[9007199254740992,9007199254740993,18446744073709551615,249.90,1e400,0.1]`)).toEqual([
      "9007199254740993",
      "18446744073709551615",
      "1e400",
    ]);
  });
  test("another spelling of the same value is not", () => {
    for (const spelling of [
      "1.0",
      "-0",
      "1E2",
      "1e+2",
      "100e-2",
      "0.000001",
      "1e-7",
      "123456789012345680000",
      "0e99",
    ]) {
      expect(fitsDouble(spelling), spelling).toBe(true);
    }
  });
});

describe("what is no JSON is refused where it stops being JSON", () => {
  const cases: readonly [string, number][] = [
    ["", 0],
    ["{", 1],
    [`{"a":1,}`, 7],
    ["[1,]", 3],
    ["[1 2]", 3],
    [`{"a" 1}`, 5],
    ["01", 1],
    ["1.", 1],
    ["+1", 0],
    ["nul", 0],
    [`"a\nb"`, 2],
    [`"\\x"`, 2],
    [`"\\u12"`, 2],
    [`"open`, 5],
    ["{} {}", 3],
    ["NaN", 0],
    ["[}", 1],
  ];
  test.each(cases)("%j at %i", (text, at) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(() => layoutJson(text)).toThrow(JsonFault);
    try {
      layoutJson(text);
    } catch (error) {
      expect((error as JsonFault).at).toBe(at);
    }
  });
});

describe("size", () => {
  test("depth costs no stack", () => {
    const depth = 200_000;
    const layout = layoutJson("[".repeat(depth) + "]".repeat(depth));
    expect(layout.length).toBe(depth * 2 - 1);
    expect(layout.at(depth - 1).depth).toBe(depth - 1);
  });
  test("half a million members are take seconds at most: laying out is linear", () => {
    const text = `[${"1,".repeat(500_000)}1]`;
    const start = performance.now();
    expect(layoutJson(text).length).toBe(500_003);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});
