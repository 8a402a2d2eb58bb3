// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from "vitest";
import { dropDraft, dropDrafts, readDraft, writeDraft } from "./draft.ts";

beforeEach(() => sessionStorage.clear());

test("a draft is given back to the person who wrote it", () => {
  writeDraft("token", "ada", { reason: "rollout" });
  expect(readDraft("token", "ada")).toEqual({ reason: "rollout" });
  expect(readDraft("other", "ada")).toBeUndefined();
});

test("another person does not see it, writes over it or ends it, and it waits for its owner", () => {
  writeDraft("token", "ada", { reason: "rollout" });
  expect(readDraft("token", "otto")).toBeUndefined();
  writeDraft("token", "otto", { reason: "mine" });
  dropDraft("token", "otto");
  expect(readDraft("token", "ada")).toEqual({ reason: "rollout" });
});

test("what is no draft is none", () => {
  for (const text of ["{", "null"]) {
    writeDraft("token", "ada", 1);
    sessionStorage.setItem(Object.keys({ ...sessionStorage })[0] ?? "", text);
    expect(readDraft("token", "ada"), text).toBeUndefined();
  }
});

test("drafts go as they are sent, and all of them as a person leaves", () => {
  writeDraft("token", "ada", 1);
  writeDraft("revoke.7", "ada", 2);
  writeDraft("token", "otto", 3);
  sessionStorage.setItem("another", "kept");
  dropDraft("token", "ada");
  expect(readDraft("token", "ada")).toBeUndefined();
  expect(readDraft("revoke.7", "ada")).toBe(2);
  dropDrafts();
  expect(readDraft("revoke.7", "ada")).toBeUndefined();
  expect(readDraft("token", "otto")).toBeUndefined();
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
