import { expect, test } from "vitest";
import { formatQuery, parseQuery } from "#/lib/search.ts";
import { readTokensView, tokensParams, writeTokensView } from "./tokens-url.ts";

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

test("reading what was written gives the same view, and only the filter is asked for", () => {
  const view = { query: "a & b", states: ["active", "revoked"], making: true, revoking: "7" } as const;
  expect(readTokensView(parseQuery(formatQuery(writeTokensView(view, undefined))))).toEqual(view);
  expect(tokensParams(view)).toEqual({ q: "a & b", state: ["active", "revoked"] });
  expect(tokensParams({ query: " ", states: [] })).toEqual({});
});
