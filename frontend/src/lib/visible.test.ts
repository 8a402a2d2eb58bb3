import { describe, expect, test } from "vitest";
import { columnsOf, elideMiddle, pieces, spelled, titleLines } from "./visible.ts";

describe("eliding in the middle", () => {
  test("leaves alone what fits", () =>
    expect(elideMiddle("shop.order.placed.v1", 20)).toBe("shop.order.placed.v1"));
  test("keeps more of the end, which tells types and sources apart", () =>
    expect(elideMiddle("com.example.shop.payment.declined.v1", 21)).toBe("com.ex…nt.declined.v1"));
  test("keeps both ends", () => expect(elideMiddle("ord_01JDK7VZQ8W2M7PA", 14)).toBe("ord_…ZQ8W2M7PA"));
  test("counts wide characters as two columns", () => {
    const elided = elideMiddle("受注-2026-1130-受注", 12);
    expect(columnsOf(elided)).toBeLessThanOrEqual(12);
    expect(elided.endsWith("受注")).toBe(true);
  });
  test("never cuts a surrogate pair in two", () => {
    for (let columns = 3; columns < 24; columns++) {
      expect(elideMiddle("😀😁😂🤣😃😄😅😆😉😊😋😎", columns).isWellFormed()).toBe(true);
    }
  });
  test("never gets wider than asked", () => {
    for (let columns = 3; columns < 30; columns++) {
      expect(columnsOf(elideMiddle("a\u0000受é😀".repeat(9), columns))).toBeLessThanOrEqual(columns);
    }
  });
});

describe("pieces", () => {
  test("cover the text without a gap", () => {
    const text = "a\u0000b\u202e\ud800c😀\n";
    let at = 0;
    for (const piece of pieces(text)) {
      expect(piece.start).toBe(at);
      at += piece.units;
    }
    expect(at).toBe(text.length);
  });
  test("name what would reorder or hide text", () => {
    expect(pieces("x\u202ey").map(({ text, glyph }) => [text, glyph])).toEqual([
      ["x", false],
      ["RLO", true],
      ["y", false],
    ]);
  });
  test.each([
    ["an Arabic letter mark", "a\u061cb", ["a", "ALM", "b"]],
    ["a joiner between letters that nothing joins", "ad\u200dmin", ["ad", "ZWJ", "min"]],
    ["a non-joiner at the end", "root\u200c", ["root", "ZWNJ"]],
    ["a filler that looks like a space", "a\u3164b", ["a", "HF", "b"]],
    ["a letter of the tags", "a\u{e0068}b", ["a", "U+E0068", "b"]],
    ["a selector behind a letter", "a\ufe01b", ["a", "U+FE01", "b"]],
    ["a selector behind another", "葛\u{e0100}\u{e0101}", ["葛\u{e0100}", "U+E0101"]],
    ["an invisible operator", "f\u2061x", ["f", "FA", "x"]],
    ["an annotation", "\ufff9a", ["IAA", "a"]],
  ])("name %s", (_, text, shown) => expect(pieces(text).map((piece) => piece.text)).toEqual(shown));
  test.each([
    ["a family of emoji", "👨\u200d👩\u200d👧"],
    ["a heart on fire", "❤\ufe0f\u200d🔥"],
    ["a keycap", "1\ufe0f\u20e3"],
    ["Persian with a non-joiner", "می\u200cخواهم"],
    ["a Devanagari conjunct", "क्\u200dष"],
    ["a form of a Han character", "葛\u{e0100}城"],
    ["a copyright sign as an emoji", "©\ufe0f"],
  ])("leave %s", (_, text) =>
    expect(
      pieces(text)
        .map((piece) => piece.text)
        .join("|"),
    ).toBe(text),
  );
  test("leave an emoji and an escape of six characters as they are", () => {
    expect(pieces("😀\\u0000")).toEqual([{ text: "😀\\u0000", glyph: false, start: 0, units: 8 }]);
  });
});

describe("the lines of a title", () => {
  test.each([
    ["one that fits is one line", "a.declined.v1", 20, ["a.declined.v1"]],
    [
      "breaks after a dot, not within a word",
      "payment.auth.declined.v1",
      20,
      ["payment.auth.", "declined.v1"],
    ],
    ["breaks after a hyphen", "checkout-payment-declined", 20, ["checkout-payment-", "declined"]],
    ["one word is cut where the line ends", "abcdefghijkl", 10, ["abcdefghij", "kl"]],
    ["keeps both ends", `a.${"bcdefg.".repeat(9)}v1`, 10, ["a.bcdefg.", "bcd…efg.v1"]],
  ])("%s", (_, text, columns, expected) => expect(titleLines(text, columns)).toEqual(expected));
});

test("a text without boxes has the names in brackets, and keeps its lines", () => {
  expect(spelled("a\u202eb\u0000\nc")).toBe("a[RLO]b[NUL]\nc");
  expect(spelled("<b> 😀")).toBe("<b> 😀");
});
