import { expect, test } from "vitest";
import { ApiError } from "#/lib/http.ts";
import {
  emptyDraft,
  expireTimeOf,
  faultsFrom,
  faultsOf,
  prefixesOf,
  readTokenDraft,
  requestOf,
  type TokenDraft,
} from "./token-form.ts";

const now = Date.parse("2026-11-30T15:00:00Z");
const good: TokenDraft = {
  displayName: " valve-controller ",
  scopes: ["events:write"],
  sources: "/home/greenhouse-2\n\n /shop/ \n/shop/",
  expiry: "90d",
  date: "",
  reason: "sensor rollout",
};

test("the request has what was typed, once and without blanks around it", () => {
  expect(faultsOf(good, "UTC", now)).toEqual({});
  expect(requestOf(good, "UTC", now)).toEqual({
    displayName: "valve-controller",
    scopes: ["events:write"],
    sourcePrefixes: ["/home/greenhouse-2", "/shop/"],
    expireTime: "2027-02-28T15:00:00.000Z",
    reason: "sensor rollout",
  });
});

test("a token that may not write is asked for without sources, one that never ends without an expiry", () => {
  const reader = { ...good, scopes: ["events:read"], expiry: "never" } as const;
  expect(requestOf(reader, "UTC", now)).toEqual({
    displayName: "valve-controller",
    scopes: ["events:read"],
    reason: "sensor rollout",
  });
});

test("the last day counts whole, in the zone that is shown", () => {
  const dated = { ...good, expiry: "date", date: "2027-02-28" } as const;
  expect(expireTimeOf(dated, "UTC", now)).toEqual({ value: "2027-02-28T23:59:59.000Z" });
  expect(expireTimeOf(dated, "Asia/Kolkata", now)).toEqual({ value: "2027-02-28T18:29:59.000Z" });
  // Today is still to come to its end.
  expect(expireTimeOf({ ...dated, date: "2026-11-30" }, "UTC", now)).toEqual({
    value: "2026-11-30T23:59:59.000Z",
  });
  for (const date of ["", "2026-11-29", "2027-02-30", "28.2.2027"]) {
    expect(expireTimeOf({ ...dated, date }, "UTC", now), date).toHaveProperty("error");
  }
});

test("everything that is wrong is said at once", () => {
  const wrong = { ...emptyDraft, expiry: "date" } as const;
  expect(Object.keys(faultsOf(wrong, "UTC", now)).toSorted()).toEqual([
    "displayName",
    "expireTime",
    "reason",
    "scopes",
  ]);
  const long = { ...good, displayName: "x".repeat(101), reason: "x".repeat(501), sources: "é".repeat(513) };
  expect(Object.keys(faultsOf(long, "UTC", now)).toSorted()).toEqual([
    "displayName",
    "reason",
    "sourcePrefixes",
  ]);
  const many = Array.from({ length: 51 }, (_, index) => `/s${index}`).join("\n");
  expect(faultsOf({ ...good, sources: many }, "UTC", now).sourcePrefixes).toContain("at most 50");
});

test("what the server says against a field stands at the field", () => {
  const detail = (attribute: string, message: string) => ({
    reason: "INVALID_FIELD",
    domain: "oriel",
    message,
    metadata: attribute === "" ? {} : { attribute },
  });
  const error = new ApiError({
    code: 400,
    status: "INVALID_ARGUMENT",
    message: "4 fields are wrong.",
    details: [
      detail("displayName", "Taken."),
      detail("sourcePrefixes[2]", "Third."),
      detail("sourcePrefixes[3]", "Fourth."),
      detail("", "Something else."),
      detail("constructor", "And more."),
    ],
  });
  expect(faultsFrom(error)).toEqual({
    faults: { displayName: "Taken.", sourcePrefixes: "Third. Fourth." },
    rest: ["Something else.", "And more."],
  });
});

test("a draft that was stored is read back, and what is none is refused", () => {
  expect(readTokenDraft(JSON.parse(JSON.stringify(good)))).toEqual(good);
  expect(readTokenDraft({ ...good, scopes: ["events:write", "root"] })?.scopes).toEqual(["events:write"]);
  for (const stored of [undefined, null, "x", {}, { ...good, expiry: "1d" }, { ...good, reason: 7 }]) {
    expect(readTokenDraft(stored)).toBeUndefined();
  }
  expect(prefixesOf({ sources: "" })).toEqual([]);
});
