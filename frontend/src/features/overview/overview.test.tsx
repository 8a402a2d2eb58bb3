// @vitest-environment jsdom
import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { Histogram, Pipeline } from "#/api/oriel.gen.ts";
import { closeApp, openApp, refused, session } from "#/testing.tsx";

afterEach(closeApp);

const window = { from: "2026-11-29T15:00:00Z", until: "2026-11-30T15:00:00Z" };

const pipeline: Pipeline = {
  topic: "events",
  consumer: "store",
  partitions: [
    { partition: 0, nextOffset: "8", state: "running", updateTime: window.until },
    {
      partition: 1,
      nextOffset: "9007199254740993",
      state: "gap",
      reason: "9007199254740993 is gone",
      updateTime: window.until,
    },
  ],
  storedPerSecond: 356.2,
  deadLettersDay: 1204,
  deadLettersRecent: 31,
  lastCommitTime: "2026-11-30T14:59:59.400Z",
  time: window.until,
};

function histogram(split: readonly string[], counts: readonly number[]): Histogram {
  return {
    buckets: [
      {
        ...window,
        count: 1200,
        errors: 6,
        split: [...counts],
        rest: 1200 - counts.reduce((sum, count) => sum + count, 0),
      },
    ],
    interval: "1d",
    zone: "UTC",
    splitBy: "x",
    split: [...split],
    total: { value: 1200, relation: "exact", covered: window },
    snapshot: "s",
  };
}

const value = (name: string, count: number, errors = 0) => ({ value: name, count, errors, selected: false });
const facet = (field: string, values: ReturnType<typeof value>[]) => ({
  field,
  values,
  more: false,
  missing: 4,
  relation: "exact",
  covered: window,
});

const answers = {
  "GET /v1/session": () => Response.json(session("analyst")),
  "GET /v1/events:snapshot": () => Response.json({ snapshot: "s", ...window }),
  "GET /v1/events:count": () =>
    Response.json({ value: 1000, relation: "exact", covered: window, snapshot: "t" }),
  "GET /v1/events:histogram": () => Response.json(histogram(["error", "info"], [6, 1190])),
  "GET /v1/events:facets": () =>
    Response.json({
      facets: [
        facet("type", [value("shop.order.v1", 900, 3), value("<script>", 300, 9)]),
        facet("source", [value("/shop", 1200, 6)]),
        facet("severity", [value("info", 1190), value("error", 6, 6)]),
      ],
      snapshot: "s",
    }),
  "GET /v1/pipeline": () => Response.json(pipeline),
  "GET /v1/alerts": () =>
    Response.json({
      alerts: [
        {
          name: "PartitionGap",
          severity: "critical",
          target: "events partition 1",
          summary: "Partition 1 of events has a gap",
          detail: "9007199254740993 is gone",
          since: "2026-11-30T14:00:00Z",
        },
      ],
      time: window.until,
    }),
};

function target(link: HTMLElement | null | undefined): { path: string; params: Record<string, string> } {
  const url = new URL(link?.getAttribute("href") ?? "", location.href);
  return { path: url.pathname, params: Object.fromEntries(url.searchParams) };
}

test("the search that a number leads to is of the snapshot that it was counted on", async () => {
  const asked: (string | null)[] = [];
  openApp("/overview", {
    ...answers,
    // The search has the dates in its address.
    "GET /v1/events:snapshot": ({ url }) =>
      Response.json({ snapshot: url.searchParams.get("until") === "now" ? "counted" : "another", ...window }),
    "GET /v1/events": ({ url }) => {
      asked.push(url.searchParams.get("snapshot"));
      return Response.json({ events: [], covered: window, snapshot: "counted" });
    },
  });
  const [link] = await screen.findAllByText("1,200", { selector: "a, a *" });
  link?.closest("a")?.click();
  await waitFor(() => expect(asked).toEqual(["counted"]));
});

test("the newest commit leads to what it stored", async () => {
  openApp("/overview", answers);
  const [link] = await screen.findAllByText("600 ms", { selector: "a, a *" });
  expect(target(link?.closest("a")).params).toMatchObject({
    arrivedFrom: "2026-11-30T14:59:58.400Z",
    arrivedUntil: "2026-11-30T15:00:00.400Z",
  });
});

test("every number leads to the search in the same window", async () => {
  openApp("/overview", answers);
  const links = await screen.findAllByText("1,200", { selector: "a, a *" });
  expect(target(links[0]?.closest("a"))).toEqual({ path: "/explore", params: window });
  expect(target(await screen.findByTitle("shop.order.v1"))).toEqual({
    path: "/explore",
    params: { ...window, type: "shop.order.v1" },
  });
  const mix = within(screen.getByRole("region", { name: "Severity mix" }));
  expect(target(mix.getByRole("link", { name: "6 0.50 %" }))).toEqual({
    path: "/explore",
    params: { ...window, "q!": "-severity:error" },
  });
  expect(target(mix.getByRole("link", { name: "4 0.33 %" })).params).toEqual({
    ...window,
    "q!": "severity:*",
  });
  const types = within(screen.getByRole("region", { name: "Busiest types" }));
  expect(target(types.getByRole("link", { name: "3.00 %" })).params).toEqual({
    ...window,
    type: "<script>",
    severity: "error",
  });
  expect(await screen.findByText("+20 % on the window before")).toBeDefined();
});

test("the pipeline says what stands and what is not known, and alerts what holds", async () => {
  openApp("/overview", answers);
  const panel = within(await screen.findByRole("region", { name: "Pipeline" }));
  expect(await panel.findByText("partition 1 (gap) of 2")).toBeDefined();
  expect(panel.getByText("lag not known")).toBeDefined();
  expect(panel.getByText("9007199254740993")).toBeDefined();
  expect(panel.getByText("600 ms")).toBeDefined();
  const alerts = within(screen.getByRole("region", { name: "Alerts" }));
  expect(await alerts.findByText("Partition 1 of events has a gap")).toBeDefined();
  expect(alerts.getByText("1 h ago")).toBeDefined();
});

test("what cannot be read says so in its own box, and the others stay", async () => {
  openApp("/overview", {
    ...answers,
    "GET /v1/events:facets": () => refused(500, "INTERNAL"),
    "GET /v1/pipeline": () => refused(500, "INTERNAL"),
  });
  expect(await screen.findByText("Busiest types could not be read.")).toBeDefined();
  expect(await screen.findByText("The pipeline could not be read.")).toBeDefined();
  expect((await screen.findAllByText("1,200", { selector: "a" })).length).toBeGreaterThan(0);
});

test("without the right to read events it says what is needed", async () => {
  openApp("/overview", { ...answers, "GET /v1/session": () => Response.json(session("none")) });
  expect(await screen.findByText(/no role/i)).toBeDefined();
});
