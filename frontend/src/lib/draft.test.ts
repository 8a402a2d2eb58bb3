// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from "vitest";
import { dropDraft, dropDrafts, readDraft, writeDraft } from "./draft.ts";

beforeEach(() => sessionStorage.clear());

test("a draft is given back to the person who wrote it", () => {
  writeDraft("token", "ada", { reason: "rollout" });
  expect(readDraft("token", "ada")).toEqual({ reason: "rollout" });
  expect(readDraft("other", "ada")).toBeUndefined();
});

test("another person's draft is dropped, also for the one who wrote it", () => {
  writeDraft("token", "ada", { reason: "rollout" });
  expect(readDraft("token", "otto")).toBeUndefined();
  expect(readDraft("token", "ada")).toBeUndefined();
  expect(sessionStorage.length).toBe(0);
});

test("what is no draft is dropped", () => {
  for (const text of ["{", "null", '"x"', "{}", '{"owner":"ada"}']) {
    sessionStorage.setItem("oriel.draft.token", text);
    expect(readDraft("token", "ada"), text).toBeUndefined();
    expect(sessionStorage.length, text).toBe(0);
  }
});

test("drafts go as they are sent, and all of them as the person leaves", () => {
  writeDraft("token", "ada", 1);
  writeDraft("revoke.7", "ada", 2);
  sessionStorage.setItem("another", "kept");
  dropDraft("token");
  expect(readDraft("token", "ada")).toBeUndefined();
  expect(readDraft("revoke.7", "ada")).toBe(2);
  dropDrafts();
  expect(readDraft("revoke.7", "ada")).toBeUndefined();
  expect(sessionStorage.getItem("another")).toBe("kept");
});

test("without storage nothing breaks", () => {
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new DOMException("full", "QuotaExceededError");
  });
  vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => {
    throw new DOMException("off", "SecurityError");
  });
  writeDraft("token", "ada", 1);
  expect(readDraft("token", "ada")).toBeUndefined();
});
