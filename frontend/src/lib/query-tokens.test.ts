import { describe, expect, test } from "vitest";
import { charactersIn, tokens, unitsOf } from "./query-tokens.ts";

const kinds = (query: string) =>
  tokens(query, ["room"])
    .filter(({ kind }) => kind !== "space")
    .map(({ kind, text }) => `${kind} ${text}`);

describe("colouring a query", () => {
  test.each<[string, string[]]>([
    ["door rack", ["word door", "word rack"]],
    ["tray-1*", ["word tray-1", "mark *"]],
    ['"door op"*', ['text "door op"', "mark *"]],
    ['~"c, D"', ["mark ~", 'text "c, D"']],
    ["-window OR NOT door", ["operator -", "word window", "operator OR", "operator NOT", "word door"]],
    ["severity>=error", ["field severity", "mark >=", "text error"]],
    ["severity >= error x", ["field severity", "mark >=", "text error", "word x"]],
    ['-data.a."b c"> -5 y', ["operator -", 'field data.a."b c"', "mark >", "number -5", "word y"]],
    ["total > 100 room : x", ["word total", "word >", "word 100", "word room", "word :", "word x"]],
    ["data.n  <\t7", ["field data.n", "mark <", "number 7"]],
    ["data.n > ", ["field data.n", "mark >"]],
    ["room:Kitchen cellar:x", ["field room", "mark :", "text Kitchen", "word cellar:x"]],
    ["data.n:-1.5e3", ["field data.n", "mark :", "number -1.5e3"]],
    ['data.items[*]."a \\" b":null', ['field data.items[*]."a \\" b"', "mark :", "number null"]],
    ['data.m~"DOOR O"', ["field data.m", "mark ~", 'text "DOOR O"']],
    [
      "type:(a OR -5) b",
      ["field type", "mark :", "mark (", "text a", "operator OR", "number -5", "mark )", "word b"],
    ],
    ["type:a*", ["field type", "mark :", "text a", "mark *"]],
    ["subject:*", ["field subject", "mark :", "mark *"]],
    ["localhost:8080 12:30", ["word localhost:8080", "word 12:30"]],
    ["database:x", ["word database:x"]],
    ['the "door', ["word the", 'text "door']],
    ["or and", ["word or", "word and"]],
  ])("%s", (query, expected) => expect(kinds(query)).toEqual(expected));

  test("gives every query back whole, however it is written", () => {
    const odd = [
      '"',
      "(",
      ")))",
      "a:",
      "type:",
      "data.",
      'data."',
      "~",
      "-",
      "--",
      "*",
      "\\",
      "😀:x",
      "a\tb",
      'say"hi"',
      "type:-",
      "\ud800",
      "data.a > ",
      "room <",
    ];
    for (const query of [...odd, odd.join(" "), odd.join("")]) {
      const all = tokens(query, []);
      expect(all.map(({ text }) => text).join("")).toBe(query);
      expect(all.every(({ text }) => text !== "")).toBe(true);
    }
  });
});

test("characters are counted as the server counts them", () => {
  expect(unitsOf("😀a", 1)).toBe(2);
  expect(unitsOf("ab", 9)).toBe(2);
  expect(charactersIn("😀a")).toBe(2);
});
