import { describe, expect, test } from "vitest";
import { columnsOf, elideMiddle, pieces, titleLines } from "./visible.ts";

describe("eliding in the middle", () => {
  test("leaves alone what fits", () =>
    expect(elideMiddle("shop.order.placed.v1", 20)).toBe("shop.order.placed.v1"));
  test("keeps both ends", () => expect(elideMiddle("ord_01JDK7VZQ8W2M7PA", 14)).toBe("ord_01…8W2M7PA"));
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
    ["keeps both ends", `a.${"bcdefg.".repeat(9)}v1`, 10, ["a.bcdefg.", "bcde…fg.v1"]],
  ])("%s", (_, text, columns, expected) => expect(titleLines(text, columns)).toEqual(expected));
});
