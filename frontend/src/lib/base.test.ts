// @vitest-environment jsdom
import { afterEach, describe, expect, test, vi } from "vitest";
import { basePath, here, safeReturn, signInUrl, underBase, withoutBase } from "./base.ts";
import { eventPath } from "./event-name.ts";
import { request } from "./http.ts";

function showUnder(base: string): void {
  const meta = document.createElement("meta");
  meta.name = "oriel-base";
  meta.content = base;
  document.head.append(meta);
}

afterEach(() => {
  document.head.replaceChildren();
  vi.unstubAllGlobals();
});

describe("at the root", () => {
  test("paths are as they are", () => {
    expect(basePath()).toBe("");
    expect(underBase("/v1/events")).toBe("/v1/events");
    expect(withoutBase("/events/a%2Fb:c")).toBe("/events/a%2Fb:c");
  });
});

describe("under a path", () => {
  test("what the browser asks for has it in front, and what the app reads has not", () => {
    showUnder("/tools/oriel");
    expect(underBase("/v1/events")).toBe("/tools/oriel/v1/events");
    expect(eventPath("a%2Fb:c")).toBe("/tools/oriel/events/a%2Fb:c");
    expect(withoutBase("/tools/oriel/events/a%2Fb:c")).toBe("/events/a%2Fb:c");
    expect(withoutBase("/tools/oriel")).toBe("/");
    expect(here({ pathname: "/tools/oriel/explore", search: "?q=a%20b", hash: "#x" })).toBe(
      "/explore?q=a%20b#x",
    );
  });
  test("a path that only begins alike is not below it", () => {
    showUnder("/oriel");
    expect(withoutBase("/orielle/x")).toBe("/orielle/x");
  });
  test("requests go there", async () => {
    showUnder("/oriel/");
    const fetch = vi.fn(async () => Response.json({}));
    vi.stubGlobal("fetch", fetch);
    await request("/v1/session");
    expect(fetch).toHaveBeenCalledWith("/oriel/v1/session", expect.anything());
  });
  test("a sign-in begins there and comes back to a path within the app", () => {
    showUnder("/oriel");
    expect(signInUrl("/explore?q=a&b=c")).toBe("/oriel/auth/sign-in?return=%2Fexplore%3Fq%3Da%26b%3Dc");
  });
});

test("what is no path of this host is taken for none", () => {
  for (const base of ["", "/", "//evil.example", "https://evil.example", "oriel"]) {
    showUnder(base);
    expect(basePath(), base).toBe("");
    document.head.replaceChildren();
  }
});

test("a sign-in comes back to pages of the app alone", () => {
  for (const path of ["/explore?q=//x", "/events/a%2Fb:c?time=1", "/", "/authors", "/admin/tokens?new"]) {
    expect(safeReturn(path), path).toBe(path);
  }
  const wrong = [
    undefined,
    "",
    "explore",
    "//evil.example",
    "/\\evil.example",
    "/a\\b",
    "/a\nb",
    "https://evil.example/",
    "javascript:alert(1)",
    "/auth/sign-in",
    "/v1/session",
    "/sign-in?return=/x",
    "/signed-out",
  ];
  for (const path of wrong) expect(safeReturn(path), String(path)).toBe("/");
});
