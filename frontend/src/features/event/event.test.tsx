// @vitest-environment jsdom
import { cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { auditEntry, closeApp, installation, openApp, refused, session } from "#/testing.tsx";
import { traceAddress } from "./TraceLink.tsx";

afterEach(() => {
  cleanup();
  closeApp();
});

const name = "events/%2Fshop:1";

function detail(more: Partial<EventDetail> = {}): EventDetail {
  return {
    event: {
      name,
      id: "1",
      source: "/shop",
      type: "shop.paid.v1",
      time: "2026-11-30T16:02:10.951+01:00",
      occurredAt: "2026-11-30T15:02:10.951000Z",
      ingestTime: "2026-11-30T15:02:10.989Z",
      tags: [],
      facets: {},
      summary: "{}",
      dataContentType: "application/json",
      dataKind: "json",
      dataSize: 2,
      position: { topic: "events", log: 1, partition: 3, offset: "9007199254740993", commit: "1" },
    },
    extensions: {},
    headers: [],
    contentMode: "binary",
    others: [{ name, occurredAt: "2026-11-29T15:02:10Z" }],
    dataText: "{}",
    ...more,
  };
}

function openEvent(role: "analyst" | "admin", answers: Parameters<typeof openApp>[1] = {}) {
  return openApp(`/events/%2Fshop:1`, {
    "GET /v1/session": () => Response.json(session(role)),
    "GET /v1/installation": () => Response.json(installation),
    [`GET /v1/${name}`]: () => Response.json(detail()),
    [`GET /v1/${name}/context`]: () => refused(503, "OVERLOADED"),
    ...answers,
  });
}

async function operations(): Promise<string> {
  const heading = await screen.findByRole("heading", { name: "Operations" });
  return heading.closest("section")?.textContent ?? "";
}

test("who may see the audit log sees what was done to the event, newest first", async () => {
  const { asked } = openEvent("admin", {
    "GET /v1/auditEntries": () =>
      Response.json({
        entries: [
          auditEntry("2", {
            action: "event.replay",
            target: name,
            reason: "fixed <b>",
            intentTime: "2026-11-30T16:00:00Z",
          }),
        ],
      }),
  });
  await waitFor(async () => expect(await operations()).toContain("event.replay done"));
  const text = await operations();
  expect(text).toContain("“fixed <b>”");
  expect(text.indexOf("event.replay")).toBeLessThan(text.indexOf("Received and stored"));
  expect(text).toContain("events/3/9007199254740993");
  expect(text.indexOf("Received and stored")).toBeLessThan(text.indexOf("at another time"));
  expect(
    asked.find(({ url }) => url.pathname === "/v1/auditEntries")?.url.searchParams.getAll("target"),
  ).toEqual([name]);
});

test("of others the audit log is not asked", async () => {
  const { asked } = openEvent("analyst");
  expect(await operations()).toContain("Received and stored");
  await screen.findByText("The events around it could not be read.");
  expect(asked.some(({ url }) => url.pathname === "/v1/auditEntries")).toBe(false);
});

test("surroundings that could not be read say so in their place, and the event stays", async () => {
  openEvent("analyst");
  expect(await screen.findByText("The events around it could not be read.")).toBeTruthy();
  expect(screen.getByRole("tree", { name: "Data, as a tree" })).toBeTruthy();
});

test("a trace's identifier takes its place in the address and nothing more", () => {
  expect(traceAddress("https://t.example.com/{traceId}?q={traceId}", "ab/../c?d")).toBe(
    "https://t.example.com/ab%2F..%2Fc%3Fd?q=ab%2F..%2Fc%3Fd",
  );
  expect(traceAddress("https://t.example.com/{traceId}", "$&")).toBe("https://t.example.com/%24%26");
});
