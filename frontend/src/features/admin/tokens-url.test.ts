import { expect, test } from "vitest";
import { formatQuery, parseQuery } from "#/lib/search.ts";
import { readTokensView, searchable, tokensParams, writeTokensView } from "./tokens-url.ts";

test("whether a form is open is in the address", () => {
  for (const query of ["?new", "?new=", "?q=a&new=1"]) {
    expect(readTokensView(parseQuery(query)).making, query).toBe(true);
  }
  expect(readTokensView(parseQuery("?q=new")).making).toBe(false);
  expect(readTokensView(parseQuery("?revoke=7")).revoking).toBe("7");
  for (const number of ["", "0", "-1", "7x", "../7", "1".repeat(20)]) {
    expect(readTokensView({ revoke: [number] }).revoking, number).toBeUndefined();
  }
});

test("of a pasted token only the prefix is looked for", () => {
  const secret = "orl_Vt3qM8sYw0pZ_k5Rr9cXhJ2uNfE7bLdA4gTi6oQy1Wv";
  for (const [typed, asked] of [
    [secret, "Vt3qM8sY"],
    [` Bearer ${secret} `, " Bearer Vt3qM8sY "],
    ["orl_Vt3qM8sY…", "Vt3qM8sY"],
    ["orl_Vt3qM8sY...", "Vt3qM8sY"],
    ["Vt3qM8sY…", "Vt3qM8sY"],
    ["orl_Vt3", "Vt3"],
    ["orl_", ""],
    ["valve-controller", "valve-controller"],
  ] as const) {
    expect(searchable(typed), typed).toBe(asked);
    expect(readTokensView({ q: [typed] }).query, typed).toBe(asked);
  }
});

test("reading what was written gives the same view, and only the filter is asked for", () => {
  const view = { query: "a & b", states: ["active", "revoked"], making: true, revoking: "7" } as const;
  expect(readTokensView(parseQuery(formatQuery(writeTokensView(view, undefined))))).toEqual(view);
  expect(tokensParams(view)).toEqual({ q: "a & b", state: ["active", "revoked"] });
  expect(tokensParams({ query: " ", states: [] })).toEqual({});
});
