import {
  hashKey,
  keepPreviousData,
  type QueryClient,
  skipToken,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import {
  createSnapshot,
  type Event,
  type EventPage,
  type ListEventsParams,
  listEvents,
  type Snapshot,
} from "#/api/oriel.gen.ts";
import { mayHelp } from "#/lib/http.ts";
import { type Field, listParams, type Search, windowParams } from "#/lib/search.ts";
import { forgetSnapshots, keepPart, keptSnapshot, type Taken, wholeSnapshot } from "#/lib/snapshots.ts";

export type { Taken };

const pageSize = 100;
/** The server bounds how far it looks for one page. So many empty ones in a row are read unasked. */
const patience = 5;
/** So long a search that was left is shown again as it was. */
export const kept = 600_000;

/** And no more searches than these, however fast they follow. */
const keptSearches = 20;

interface Page extends Taken {
  readonly page: EventPage;
  /** What was searched for, whichever time. */
  readonly search: string;
  /** How it was asked for, so that more columns of it can be. */
  readonly request: ListEventsParams;
  /** The columns that its events have. */
  readonly columns: readonly Field[];
}

/** A page as far as its columns go. */
export type FoundPage = Pick<Page, "request" | "columns"> & { readonly events: readonly Event[] };

/** What one run of a search has found so far; it never changes under the eye but by paging on. */
export interface Found {
  /** What was searched for, to be compared with that of another. */
  readonly search: string;
  readonly events: readonly Event[];
  readonly pages: readonly FoundPage[];
  /** The words of the search that found them. */
  readonly query: string;
  /** The window as absolute bounds. */
  readonly from: string;
  readonly until: string | undefined;
  readonly takenAt: string;
  /** How far back the last page looked. */
  readonly coveredFrom: string;
  /** There is more to look at, but the last pages found nothing: going on waits to be asked. */
  readonly lookedInVain: boolean;
}

export interface Run {
  readonly found: Found | undefined;
  /** The snapshot of the search that is asked for, also where its rows failed. */
  readonly taken: Taken | undefined;
  /**
   * The rows came, or failed though the search itself was not refused: what else is asked about it does
   * not hold them up.
   */
  readonly answered: boolean;
  /** The rows belong to an earlier search or snapshot than the one asked for. */
  readonly outdated: boolean;
  /** They are of another search, and not only of an earlier snapshot. */
  readonly former: boolean;
  readonly searching: boolean;
  /** What is searched for, told apart from every other search. */
  readonly id: string;
  /** The search was given up before its answer. */
  readonly cancelled: boolean;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly loadingMore: boolean;
  readonly moreError: Error | null;
  readonly more: () => void;
  readonly again: () => void;
  /**
   * Another search is asked for now: what was found of it before is not shown again, as it is to who goes
   * back to it.
   */
  readonly renew: (next: Search) => void;
  /** The search that is asked for next is within this one's window, and of what this one saw. */
  readonly narrow: (next: Search) => void;
  /** Gives the search up. The rows of the last one stay. */
  readonly cancel: () => void;
}

const runKey = ["explorer", "run"] as const;

function keyOf(search: Search, run: number) {
  return ["events", listParams(search), windowParams(search), run];
}

const snapshotKey = ["explorer", "snapshot"] as const;

function takenKeyOf(id: string) {
  return [...snapshotKey, id];
}

/**
 * Runs a search on a snapshot: absolute bounds and what was stored then, for all pages. `again`
 * takes a new one. Rows of the last search that succeeded stay until the next has an answer. `columns`
 * are those that pages are read with; other ones make no other run.
 */
export function useRun(search: Search, columns: readonly Field[] = []): Run {
  const client = useQueryClient();
  const [run, setRun] = useState(() => client.getQueryData<number>(runKey) ?? 0);
  const bounds = windowParams(search);
  const filter = listParams(search);

  const queryKey = keyOf(search, run);
  const id = hashKey(queryKey);
  const asked = hashKey([filter, bounds]);

  const takenKey = takenKeyOf(id);
  const { data: taken } = useQuery<Taken>({ queryKey: takenKey, queryFn: skipToken, gcTime: kept });

  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as { snapshot: Snapshot; takenAt: string; token: string } | undefined,
    queryFn: async ({ pageParam, signal }): Promise<Page> => {
      const same = pageParam ?? keptSnapshot(client, bounds);
      const whole = same ? undefined : wholeSnapshot(client, bounds);
      const within = whole && { within: whole.snapshot.snapshot };
      const snapshot = same?.snapshot ?? (await createSnapshot({ ...bounds, ...within }, { signal }));
      const takenAt = (same ?? whole)?.takenAt ?? new Date().toISOString();
      if (!pageParam) client.setQueryData<Taken>(takenKey, { snapshot, takenAt });
      const token = pageParam && { pageToken: pageParam.token };
      const request = { ...filter, snapshot: snapshot.snapshot, pageSize, ...token };
      const more = columns.length > 0 && { columns: [...columns] };
      const page = await listEvents({ ...request, ...more }, { signal });
      return { page, snapshot, takenAt, search: asked, request, columns };
    },
    getNextPageParam: ({ page, snapshot, takenAt }) =>
      page.nextPageToken ? { snapshot, takenAt, token: page.nextPageToken } : undefined,
    placeholderData: keepPreviousData,
    gcTime: kept,
  });

  const { data, isPlaceholderData, isFetchNextPageError, error } = query;
  const current = useMemo(() => (data ? collect(data.pages) : undefined), [data]);
  const [last, setLast] = useState<Found>();
  useEffect(() => {
    if (current) setLast(current);
  }, [current]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: with every search that is shown
  useEffect(() => forgetOld(client), [client, id]);

  const again = useCallback(() => {
    forgetSnapshots(client);
    const next = (client.getQueryData<number>(runKey) ?? 0) + 1;
    client.setQueryDefaults(runKey, { gcTime: Number.POSITIVE_INFINITY });
    client.setQueryData(runKey, next);
    setRun(next);
  }, [client]);

  const renew = useCallback(
    (next: Search) => {
      forgetSnapshots(client);
      const key = keyOf(next, run);
      const other = hashKey(key);
      if (other === id) return;
      client.removeQueries({ queryKey: key, exact: true });
      client.removeQueries({ queryKey: takenKeyOf(other), exact: true });
    },
    [client, run, id],
  );

  const narrow = useCallback(
    (next: Search) => {
      if (taken) keepPart(client, windowParams(next), taken);
    },
    [client, taken],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: the id stands for the key
  const cancel = useCallback(() => void client.cancelQueries({ queryKey, exact: true }), [client, id]);

  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage({ cancelRefetch: false });
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);

  const outdated = isPlaceholderData || current === undefined;
  const found = current ?? last;
  return {
    found,
    taken,
    answered: !outdated || (error !== null && !query.isFetching && mayHelp(error)),
    outdated,
    former: outdated && found !== undefined && found.search !== asked,
    searching: query.isFetching && !isFetchingNextPage,
    id,
    cancelled: outdated && !query.isFetching && !error,
    error: isFetchNextPageError ? null : error,
    hasMore: !outdated && hasNextPage,
    loadingMore: isFetchingNextPage,
    moreError: isFetchNextPageError ? error : null,
    more,
    again,
    renew,
    narrow,
    cancel,
  };
}

/** Of searches that were left the last ones stay, with all that was counted of them. */
function forgetOld(client: QueryClient): void {
  const cache = client.getQueryCache();
  const of = (queryKey: readonly string[]) => cache.findAll({ queryKey, type: "inactive" });
  const about = of(["events"]);
  const age = ({ state }: (typeof about)[number]) => Math.max(state.dataUpdatedAt, state.errorUpdatedAt);
  const runs = about.filter(({ queryKey }) => typeof queryKey[1] === "object").map(age);
  const oldest = runs.toSorted((a, b) => b - a)[keptSearches - 1];
  if (oldest === undefined) return;
  for (const query of [...about, ...of([...snapshotKey])]) {
    if (age(query) < oldest)
      client.removeQueries({ queryKey: query.queryKey, exact: true, type: "inactive" });
  }
}

function collect(pages: readonly Page[]): Found | undefined {
  const first = pages[0];
  const last = pages.at(-1);
  if (!first || !last) return undefined;
  const vain = pages.length - 1 - pages.findLastIndex(({ page }) => page.events.length > 0);
  return {
    search: first.search,
    query: first.request.q?.[0] ?? "",
    events: pages.flatMap(({ page }) => page.events),
    pages: pages.map(({ page, request, columns }) => ({ events: page.events, request, columns })),
    from: first.snapshot.from,
    until: first.snapshot.until,
    takenAt: first.takenAt,
    coveredFrom: last.page.covered.from,
    lookedInVain: last.page.nextPageToken !== undefined && vain > 0 && vain % patience === 0,
  };
}
