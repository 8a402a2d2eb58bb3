// @vitest-environment jsdom
import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { closeApp, openApp, refused, session } from "#/testing.tsx";

afterEach(closeApp);

test("a share link goes on to its search, with every parameter", async () => {
  const { asked } = openApp("/s/aaaaaaaaaaaaaaaaaaaa", {
    "GET /v1/session": () => Response.json(session("analyst")),
    "GET /v1/shareLinks/aaaaaaaaaaaaaaaaaaaa": () =>
      Response.json({
        slug: "aaaaaaaaaaaaaaaaaaaa",
        url: "/s/aaaaaaaaaaaaaaaaaaaa",
        params: "data.a%5B%2A%5D=%22x+y%22&q=tea&type%21=b&type=a%26b",
      }),
    "GET /v1/events:snapshot": () => Response.json({ snapshot: "s", from: "2026-11-30T00:00:00Z" }),
    "GET /v1/events": () =>
      Response.json({ events: [], covered: { from: "2026-11-30T00:00:00Z" }, snapshot: "s" }),
  });
  await waitFor(() => expect(location.pathname).toBe("/explore"));
  const params = new URLSearchParams(location.search);
  expect([...params.entries()].toSorted()).toEqual([
    ["data.a[*]", '"x y"'],
    ["q", "tea"],
    ["type!", "b"],
    ["type", "a&b"],
  ]);
  expect(asked.filter(({ url }) => url.pathname.includes("shareLinks"))).toHaveLength(1);
});

test("a link that is gone says so and leads on", async () => {
  openApp("/s/bbbbbbbbbbbbbbbbbbbb", {
    "GET /v1/session": () => Response.json(session("analyst")),
    "GET /v1/shareLinks/bbbbbbbbbbbbbbbbbbbb": () => refused(404, "NOT_FOUND"),
  });
  await screen.findByText("It was refused.");
  expect(
    within(screen.getByRole("main")).getByRole("link", { name: "Explore events" }).getAttribute("href"),
  ).toBe("/explore");
});
