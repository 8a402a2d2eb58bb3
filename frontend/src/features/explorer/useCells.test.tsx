// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { readSearch } from "#/lib/search.ts";
import { useCells } from "./useCells.ts";
import { useRun } from "./useRun.ts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const from = "2026-11-30T00:00:00Z";

/** Three pages of 100 events, whose values name their event and column. */
function serve(refused: readonly string[] = []) {
  const asked: { page: string; columns: string[] }[] = [];
  let snapshots = 0;
  vi.stubGlobal("fetch", async (url: string) => {
    if (url.startsWith("/v1/events:snapshot")) {
      snapshots++;
      return Response.json({ snapshot: "s", from });
    }
    const params = new URL(url, "http://localhost").searchParams;
    const page = Number(params.get("pageToken") ?? 0);
    const columns = params.getAll("columns");
    asked.push({ page: String(page), columns });
    if (columns.some((column) => refused.includes(column))) {
      const error = { code: 503, message: "no", status: "UNAVAILABLE", requestId: "r", details: [] };
      return Response.json({ error }, { status: 503 });
    }
    const events = Array.from({ length: 100 }, (_, index) => ({
      name: `events/s:${page}-${index}`,
      occurredAt: from,
      facets: {},
      tags: [],
      // The third event of every page has too much data.
      ...(columns.length > 0 &&
        index !== 2 && {
          columns: columns.map((column) => ({ kind: "string", text: `${page}-${index} ${column}` })),
        }),
    }));
    const next = page < 2 && { nextPageToken: String(page + 1) };
    return Response.json({ events, covered: { from }, snapshot: "s", ...next });
  });
  return { asked, snapshots: () => snapshots };
}

function start(columns: readonly string[]) {
  const client = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } },
  });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const search = readSearch({ q: ["a"] });
  return renderHook(
    ({ shown }) => {
      const run = useRun(search, shown);
      return { run, cells: useCells(run.found, shown) };
    },
    { wrapper, initialProps: { shown: columns } },
  );
}

function value(hook: ReturnType<typeof start>, index: number, field: string): string {
  const { run, cells } = hook.result.current;
  const event = run.found?.events[index];
  if (!event) return "no event";
  const cell = cells.far(event, field);
  return typeof cell === "string" ? cell : cell.text;
}

test("the columns come with the page, once", async () => {
  const { asked } = serve();
  const hook = start(["data.b", "data.a"]);
  await waitFor(() => expect(value(hook, 1, "data.a")).toBe("0-1 data.a"));
  expect(value(hook, 1, "data.b")).toBe("0-1 data.b");
  expect(value(hook, 2, "data.a")).toBe("unread");
  expect(asked).toEqual([{ page: "0", columns: ["data.b", "data.a"] }]);
});

test("a column that is added later is read for the pages in view alone, of the same snapshot", async () => {
  const { asked, snapshots } = serve();
  const hook = start([]);
  await waitFor(() => expect(hook.result.current.run.hasMore).toBe(true));
  act(() => hook.result.current.run.more());
  await waitFor(() => expect(hook.result.current.run.found?.events).toHaveLength(200));
  const events = hook.result.current.run.found?.events;

  hook.rerender({ shown: ["data.a"] });
  expect(value(hook, 5, "data.a")).toBe("waiting");
  await waitFor(() => expect(value(hook, 5, "data.a")).toBe("0-5 data.a"));
  expect(value(hook, 2, "data.a")).toBe("unread");
  expect(value(hook, 150, "data.a")).toBe("waiting");

  act(() => hook.result.current.cells.setView({ first: 140, last: 170 }));
  await waitFor(() => expect(value(hook, 150, "data.a")).toBe("1-50 data.a"));
  expect(hook.result.current.run.found?.events).toBe(events);
  expect(snapshots()).toBe(1);
  expect(asked.filter(({ columns }) => columns.length > 0)).toEqual([
    { page: "0", columns: ["data.a"] },
    { page: "1", columns: ["data.a"] },
  ]);

  // The next page has it from the start.
  act(() => hook.result.current.run.more());
  await waitFor(() => expect(value(hook, 210, "data.a")).toBe("2-10 data.a"));
  expect(asked.at(-1)).toEqual({ page: "2", columns: ["data.a"] });
});

test("columns in another order are read no second time, and one that is taken away neither", async () => {
  const { asked } = serve();
  const hook = start(["data.a", "data.b"]);
  await waitFor(() => expect(value(hook, 1, "data.a")).toBe("0-1 data.a"));
  hook.rerender({ shown: ["data.b", "data.a"] });
  expect(value(hook, 1, "data.b")).toBe("0-1 data.b");
  hook.rerender({ shown: ["data.b"] });
  expect(value(hook, 1, "data.b")).toBe("0-1 data.b");
  expect(asked).toHaveLength(1);
});

test("where the values cannot be read the rows stay, and it can be tried again", async () => {
  const refused = ["data.a"];
  serve(refused);
  const hook = start([]);
  await waitFor(() => expect(hook.result.current.run.found?.events).toHaveLength(100));
  hook.rerender({ shown: ["data.a"] });
  await waitFor(() => expect(value(hook, 5, "data.a")).toBe("failed"));
  expect(hook.result.current.cells.error?.message).toBe("no");
  expect(hook.result.current.run.found?.events).toHaveLength(100);
  refused.pop();
  act(() => hook.result.current.cells.again());
  await waitFor(() => expect(value(hook, 5, "data.a")).toBe("0-5 data.a"));
  expect(hook.result.current.cells.error).toBeUndefined();
});
