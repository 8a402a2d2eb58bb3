import { useQuery } from "@tanstack/react-query";
import { type Count, countEvents, type EventCount, type Histogram } from "#/api/oriel.gen.ts";
import { listParams, type Search } from "#/lib/search.ts";
import { type Box, needsSnapshot, useBox } from "./useBox.ts";
import type { Run } from "./useRun.ts";

/** How many events a search finds in all, of the snapshot of its rows. */
export function useTotal(run: Run, search: Search, histogram: Box<Histogram>): Box<Count> {
  const count: Box<EventCount> = useBox("count", run, listParams(search), countEvents);
  const total = histogram.data?.total;
  // Both are of one snapshot: whichever counted to the end says it.
  const better =
    total?.relation === "exact" && !histogram.outdated && count.data?.relation !== "exact" && !count.reading;
  return better ? { ...count, data: total, outdated: false, error: null } : count;
}

/** What has been stored since the snapshot. */
export interface Newer {
  readonly count: number;
  readonly atLeast: boolean;
  /** The snapshot cannot be read any more. */
  readonly gone: boolean;
}

/** A window that reaches the present is asked about so often, one that has ended for late events only. */
const soon = 10_000;
const seldom = 60_000;

const nothing: EventCount = { value: 0, relation: "exact", covered: { from: "" }, snapshot: "" };

/** Asks now and then, and not while nobody looks, what a new snapshot would find more. */
export function useNewer(run: Run, search: Search): Newer | undefined {
  const { taken, answered } = run;
  const snapshot = taken?.snapshot.snapshot ?? "";
  const params = listParams(search);
  const until = taken?.snapshot.until;
  const every = until === undefined || Date.parse(until) > Date.now() - seldom ? soon : seldom;
  const { data, error } = useQuery({
    queryKey: ["events", "newer", snapshot, params],
    queryFn: ({ signal }) => countEvents({ ...params, newerThan: snapshot }, { signal }),
    enabled: answered && !run.outdated && snapshot !== "",
    // At first there is nothing newer, and nothing is asked.
    initialData: nothing,
    refetchInterval: (query) => (query.state.error && needsSnapshot(query.state.error) ? false : every),
    refetchIntervalInBackground: false,
    retry: false,
  });
  if (error && needsSnapshot(error)) return { count: 0, atLeast: false, gone: true };
  if (data.value === 0) return undefined;
  return { count: data.value, atLeast: data.relation !== "exact", gone: false };
}
