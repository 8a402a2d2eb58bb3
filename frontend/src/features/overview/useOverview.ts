import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import {
  countEvents,
  createSnapshot,
  type EventCount,
  type FacetList,
  getFacets,
  getHistogram,
  type Histogram,
  type Snapshot,
} from "#/api/oriel.gen.ts";
import { forgetSnapshots, keepSnapshot, keptSnapshot, type Taken } from "#/lib/snapshots.ts";
import { relative, utc } from "#/lib/time.ts";
import { useZone } from "#/ui/zone.tsx";
import { before, type Window, windowOf } from "./numbers.ts";

/** One answer, with the window that it is of: numbers of an earlier window stay until the next. */
export interface Box<T> {
  readonly data: T | undefined;
  readonly window: Window | undefined;
  readonly outdated: boolean;
  readonly error: Error | null;
  readonly again: () => void;
}

export interface Overview {
  readonly taken: Taken | undefined;
  readonly window: Window | undefined;
  readonly reading: boolean;
  readonly error: Error | null;
  readonly again: () => void;
  readonly histogram: Box<Histogram>;
  readonly facets: Box<FacetList>;
  readonly types: Box<Histogram>;
  readonly sources: Box<Histogram>;
  /** Of the window just before. */
  readonly earlier: Box<EventCount>;
}

export const listed = 6;
/** A day in quarters of an hour, and in hours: one more where it begins within one. */
const bars = 100;
const sparkBars = 26;
/** So often what reaches the present is counted anew while somebody looks. */
const every = 60_000;

function useBox<T>(
  name: string,
  taken: Taken | undefined,
  more: string,
  ask: (snapshot: Snapshot, window: Window, signal: AbortSignal) => Promise<T>,
): Box<T> {
  const query = useQuery({
    queryKey: ["overview", name, taken?.snapshot.snapshot ?? "", more],
    queryFn: async ({ signal }) => {
      if (!taken) throw new Error("There is no snapshot.");
      const window = windowOf(taken.snapshot, taken.takenAt);
      return { data: await ask(taken.snapshot, window, signal), window };
    },
    enabled: taken !== undefined,
    placeholderData: keepPreviousData,
  });
  return {
    data: query.data?.data,
    window: query.data?.window,
    outdated: query.isPlaceholderData,
    error: query.isFetching ? null : query.error,
    again: () => void query.refetch(),
  };
}

/** All numbers of the page, of one snapshot, so that they agree. */
export function useOverview(from: string | undefined, until: string | undefined): Overview {
  const zone = useZone();
  const client = useQueryClient();
  const [run, setRun] = useState(0);
  const rolls = until === undefined || relative(until) !== undefined;
  const snapshot = useQuery({
    queryKey: ["overview", "snapshot", from ?? "", until ?? "", run],
    queryFn: async ({ signal }): Promise<Taken> => {
      // A window that ends now has an end, so that a search in it finds the same later.
      // While a link is followed the address has its dates already.
      const same = until && keptSnapshot(client, { ...(from && { from }), until });
      if (same) return same;
      const taken = await createSnapshot({ ...(from && { from }), until: until ?? "now" }, { signal });
      const whole = { snapshot: taken, takenAt: new Date().toISOString() };
      // The search that a number leads to is of the same events.
      keepSnapshot(client, windowOf(taken, whole.takenAt), whole);
      return whole;
    },
    placeholderData: keepPreviousData,
    refetchInterval: rolls ? every : false,
    refetchIntervalInBackground: false,
  });
  const taken = snapshot.data;
  const zoned = zone === utc ? {} : { zone };
  const token = ({ snapshot: text }: Snapshot) => ({ snapshot: text });
  const split = (splitBy: string) => (one: Snapshot, _: Window, signal: AbortSignal) =>
    getHistogram({ ...token(one), ...zoned, splitBy, buckets: sparkBars }, { signal });
  return {
    taken,
    window: taken && windowOf(taken.snapshot, taken.takenAt),
    reading: snapshot.isFetching,
    error: snapshot.isFetching ? null : snapshot.error,
    again: useCallback(() => {
      forgetSnapshots(client);
      setRun((last) => last + 1);
    }, [client]),
    histogram: useBox("volume", taken, zone, (one, _, signal) =>
      getHistogram({ ...token(one), ...zoned, splitBy: "severity", buckets: bars }, { signal }),
    ),
    facets: useBox("facets", taken, "", (one, _, signal) =>
      getFacets({ ...token(one), field: ["type", "source", "severity"], limit: 10 }, { signal }),
    ),
    types: useBox("types", taken, zone, split("type")),
    sources: useBox("sources", taken, zone, split("source")),
    earlier: useBox("earlier", taken, "", (_, window, signal) => countEvents(before(window), { signal })),
  };
}
