import { expect, test } from "vitest";
import { lackOf, type Who } from "./roles.ts";

const analyst: Who = { kind: "person", roles: ["analyst"], scopes: ["events:read"] };

test("who lacks a role is told which one it is and which they have", () => {
  expect(lackOf(analyst, "events:read")).toBeUndefined();
  expect(lackOf(analyst, "operate")).toBe("Needs the operator role. You are analyst.");
  expect(lackOf(analyst, "admin:write")).toBe("Needs the admin role. You are analyst.");
  expect(lackOf({ ...analyst, roles: ["analyst", "operator"] }, "admin:read")).toBe(
    "Needs the admin role. You are operator.",
  );
  expect(lackOf({ kind: "person", roles: [], scopes: [] }, "events:read")).toBe(
    "Needs the analyst role. You are without a role.",
  );
});

test("a program is told the scope", () => {
  expect(lackOf({ kind: "token", roles: [], scopes: ["events:read"] }, "admin:read")).toBe(
    "Needs the scope admin:read. This token has events:read.",
  );
  // No role has it.
  expect(lackOf(analyst, "events:write")).toBe("Needs the scope events:write. You are analyst.");
});
