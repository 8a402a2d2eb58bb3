import { expect, test } from "vitest";
import { formatQuery, parseQuery } from "#/lib/search.ts";
import {
  type AuditView,
  auditParams,
  isFiltered,
  readAuditView,
  wholeRecord,
  writeAuditView,
} from "./audit-url.ts";

const view: AuditView = {
  actor: ["admin-1", "ada & co", "ü*"],
  action: ["token.*"],
  target: ["tokens/7", "a=b&c#d?e+f%2F"],
  outcomes: ["done", "unknown"],
  from: "-7d",
  until: "2026-11-30T15:05:30Z",
  query: "currency “table” <fixed>",
  entry: "0192-7f",
};

test("reading what was written gives the same view", () => {
  const query = formatQuery(writeAuditView(view, ["Asia/Kolkata"]));
  expect(readAuditView(parseQuery(query))).toEqual(view);
  expect(parseQuery(query).zone).toEqual(["Asia/Kolkata"]);
  expect(query).not.toMatch(/[<>"#\s]/);
});

test("an address without parameters is the whole record, and is written without any", () => {
  expect(readAuditView({})).toEqual(wholeRecord);
  expect(formatQuery(writeAuditView(wholeRecord, undefined))).toBe("");
  expect(isFiltered(wholeRecord)).toBe(false);
});

test("the list and the export ask with the API's own parameters, and not for what is merely unfolded", () => {
  expect(auditParams(view)).toEqual({
    actor: view.actor,
    action: ["token.*"],
    target: view.target,
    outcome: ["done", "unknown"],
    from: "-7d",
    until: "2026-11-30T15:05:30Z",
    q: "currency “table” <fixed>",
  });
  expect(isFiltered({ ...wholeRecord, entry: "0192-7f" })).toBe(false);
});

test("what is empty, repeated or no outcome is left out", () => {
  const read = readAuditView(parseQuery("?actor=&actor=a&actor=a&outcome=done&outcome=maybe&from=&q=+"));
  expect(read.actor).toEqual(["a"]);
  expect(read.outcomes).toEqual(["done"]);
  expect(read.from).toBeUndefined();
  expect(auditParams(read)).toEqual({ actor: ["a"], outcome: ["done"] });
});
