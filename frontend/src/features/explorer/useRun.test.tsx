// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { EventPage } from "#/api/oriel.gen.ts";
import { readSearch } from "#/lib/search.ts";
import { useRun } from "./useRun.ts";

afterEach(cleanup);

const from = "2026-11-30T00:00:00Z";

function page(ids: string[], nextPageToken?: string): EventPage {
  const events = ids.map((id) => ({ id }) as EventPage["events"][number]);
  return { events, covered: { from }, snapshot: "s", ...(nextPageToken && { nextPageToken }) };
}

/** A server of pages by token, that remembers what it was asked. */
function serve(pages: Record<string, EventPage | "fail">) {
  const asked: string[] = [];
  let snapshots = 0;
  vi.stubGlobal("fetch", async (url: string) => {
    asked.push(url);
    if (url.startsWith("/v1/events:snapshot")) {
      snapshots++;
      return Response.json({ snapshot: `s${snapshots}`, from });
    }
    const params = new URL(url, "http://localhost").searchParams;
    const answer = pages[params.get("pageToken") ?? params.get("q") ?? ""];
    if (answer === "fail" || answer === undefined) {
      const error = { code: 400, message: "no", status: "INVALID_ARGUMENT", requestId: "req_1", details: [] };
      return Response.json({ error }, { status: 400 });
    }
    return Response.json(answer);
  });
  return asked;
}

const settings = {
  defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } },
};

function start(query: string, given?: QueryClient) {
  const client = given ?? new QueryClient(settings);
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  return renderHook(({ q }) => useRun(readSearch({ q: [q] })), { wrapper, initialProps: { q: query } });
}

const ids = (hook: ReturnType<typeof start>) => hook.result.current.found?.events.map(({ id }) => id);

test("a search that is asked for anew is of a new snapshot, and one that is gone back to of its own", async () => {
  serve({ a: page(["1"]), b: page(["2"]) });
  const hook = start("a");
  const snapshot = () => hook.result.current.taken?.snapshot.snapshot;
  const settled = (id: string) =>
    waitFor(() => {
      expect(ids(hook)).toEqual([id]);
      expect(hook.result.current.outdated).toBe(false);
    });
  await settled("1");
  hook.rerender({ q: "b" });
  await settled("2");
  expect(snapshot()).toBe("s2");
  hook.rerender({ q: "a" });
  await settled("1");
  expect(snapshot()).toBe("s1");
  act(() => hook.result.current.renew(readSearch({ q: ["b"] })));
  hook.rerender({ q: "b" });
  await settled("2");
  expect(snapshot()).toBe("s3");
});

test("all pages of a search are of one snapshot, up to the end", async () => {
  const asked = serve({ a: page(["1", "2"], "t1"), t1: page(["3"]) });
  const hook = start("a");
  await waitFor(() => expect(ids(hook)).toEqual(["1", "2"]));
  expect(hook.result.current.hasMore).toBe(true);
  act(() => hook.result.current.more());
  await waitFor(() => expect(ids(hook)).toEqual(["1", "2", "3"]));
  expect(hook.result.current.hasMore).toBe(false);
  const snapshots = asked
    .filter((url) => url.startsWith("/v1/events?"))
    .map((url) => new URL(url, "http://l").searchParams.get("snapshot"));
  expect(snapshots).toEqual(["s1", "s1"]);
});

test("empty pages with more behind them are told apart from the end, and reading on waits after five", async () => {
  const pages: Record<string, EventPage> = { a: page([], "t1"), t5: page([]) };
  for (let i = 1; i < 5; i++) pages[`t${i}`] = page([], `t${i + 1}`);
  serve(pages);
  const hook = start("a");
  for (let read = 1; read <= 4; read++) {
    await waitFor(() => expect(hook.result.current.loadingMore || hook.result.current.searching).toBe(false));
    expect(hook.result.current.found?.lookedInVain).toBe(false);
    expect(hook.result.current.hasMore).toBe(true);
    await act(async () => hook.result.current.more());
  }
  await waitFor(() => expect(hook.result.current.found?.lookedInVain).toBe(true));
  await act(async () => hook.result.current.more());
  await waitFor(() => expect(hook.result.current.hasMore).toBe(false));
  expect(hook.result.current.found?.lookedInVain).toBe(false);
});

test("rows of the last search stay, marked as such, where the next one is refused", async () => {
  serve({ a: page(["1"]), b: "fail" });
  const hook = start("a");
  await waitFor(() => expect(ids(hook)).toEqual(["1"]));
  expect(hook.result.current.outdated).toBe(false);
  hook.rerender({ q: "b" });
  await waitFor(() => expect(hook.result.current.error).not.toBeNull());
  expect(ids(hook)).toEqual(["1"]);
  expect(hook.result.current.outdated).toBe(true);
  expect(hook.result.current.former).toBe(true);
  expect(hook.result.current.found?.query).toBe("a");
  expect(hook.result.current.hasMore).toBe(false);
});

test("rows of an earlier snapshot are of the same search", async () => {
  const pages: Record<string, EventPage | "fail"> = { a: page(["1"]) };
  serve(pages);
  const hook = start("a");
  await waitFor(() => expect(ids(hook)).toEqual(["1"]));
  pages.a = "fail";
  act(() => hook.result.current.again());
  await waitFor(() => expect(hook.result.current.error).not.toBeNull());
  expect(hook.result.current.outdated).toBe(true);
  expect(hook.result.current.former).toBe(false);
});

test("a page that fails leaves the rows, and is asked for again", async () => {
  const pages: Record<string, EventPage | "fail"> = { a: page(["1"], "t1"), t1: "fail" };
  serve(pages);
  const hook = start("a");
  await waitFor(() => expect(ids(hook)).toEqual(["1"]));
  act(() => hook.result.current.more());
  await waitFor(() => expect(hook.result.current.moreError).not.toBeNull());
  expect(ids(hook)).toEqual(["1"]);
  expect(hook.result.current.outdated).toBe(false);
  expect(hook.result.current.error).toBeNull();
  pages.t1 = page(["2"]);
  act(() => hook.result.current.more());
  await waitFor(() => expect(ids(hook)).toEqual(["1", "2"]));
});

test("asking again takes a new snapshot of the same search", async () => {
  const pages: Record<string, EventPage | "fail"> = { a: page(["1"]) };
  const asked = serve(pages);
  const hook = start("a");
  await waitFor(() => expect(ids(hook)).toEqual(["1"]));
  pages.a = page(["2", "1"]);
  act(() => hook.result.current.again());
  await waitFor(() => expect(ids(hook)).toEqual(["2", "1"]));
  expect(asked.filter((url) => url.startsWith("/v1/events:snapshot"))).toHaveLength(2);
});

test("a search that is given up is aborted, and the rows of the last one stay, marked as such", async () => {
  serve({ a: page(["1"]) });
  const hook = start("a");
  await waitFor(() => expect(ids(hook)).toEqual(["1"]));
  let aborted = false;
  vi.stubGlobal(
    "fetch",
    (_: string, { signal }: RequestInit) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener("abort", () => {
          aborted = true;
          reject(new DOMException("given up", "AbortError"));
        });
      }),
  );
  hook.rerender({ q: "b" });
  await waitFor(() => expect(hook.result.current.searching).toBe(true));
  expect(hook.result.current.cancelled).toBe(false);
  act(() => hook.result.current.cancel());
  await waitFor(() => expect(hook.result.current.cancelled).toBe(true));
  expect(aborted).toBe(true);
  expect(ids(hook)).toEqual(["1"]);
  expect(hook.result.current.outdated).toBe(true);
  expect(hook.result.current.error).toBeNull();
});

test("of many searches the last ones are kept, and no more", async () => {
  const client = new QueryClient(settings);
  const names = Array.from({ length: 30 }, (_, index) => `q${index}`);
  serve(Object.fromEntries(names.map((name) => [name, page([name])])));
  vi.spyOn(Date, "now").mockImplementation(
    (
      (now) => () =>
        now++
    )(Date.now()),
  );
  const hook = start("q0", client);
  for (const name of names) {
    hook.rerender({ q: name });
    await waitFor(() => expect(ids(hook)).toEqual([name]));
  }
  const keys = client.getQueryCache().getAll();
  expect(keys.filter(({ queryKey }) => queryKey[0] === "events")).toHaveLength(21);
  expect(keys.filter(({ queryKey }) => queryKey[1] === "snapshot").length).toBeLessThanOrEqual(22);
  vi.restoreAllMocks();
  // Who goes back a step finds it as it was.
  hook.rerender({ q: "q25" });
  expect(ids(hook)).toEqual(["q25"]);
  expect(hook.result.current.outdated).toBe(false);
});
