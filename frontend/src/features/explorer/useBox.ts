import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ApiError } from "#/lib/http.ts";
import { kept, type Run, type Taken } from "./useRun.ts";

/** A number or a list of numbers about a search: asked for, failing and shown apart from its rows. */
export interface Box<T> {
  readonly data: T | undefined;
  /** The snapshot that the data are of. */
  readonly taken: Taken | undefined;
  /** The data are of an earlier search or snapshot than the one asked for. */
  readonly outdated: boolean;
  readonly reading: boolean;
  readonly error: Error | null;
  readonly again: () => void;
}

/**
 * Asks about a search on the snapshot of its rows, so that all numbers agree, and after them, so that
 * they come first. What an earlier search said stays until there is an answer.
 */
export function useBox<P extends object, T>(
  name: string,
  { taken, answered, searching }: Pick<Run, "taken" | "answered" | "searching">,
  params: P,
  ask: (params: P & { snapshot: string }, options: { signal: AbortSignal }) => Promise<T>,
  on = true,
): Box<T> {
  const snapshot = taken?.snapshot.snapshot ?? "";
  const query = useQuery({
    queryKey: ["events", name, snapshot, params],
    queryFn: async ({ signal }) => ({ data: await ask({ ...params, snapshot }, { signal }), taken }),
    enabled: on && answered && snapshot !== "",
    placeholderData: keepPreviousData,
    gcTime: kept,
  });
  const { data, isPlaceholderData, isFetching, error, refetch } = query;
  return {
    data: data?.data,
    taken: data?.taken,
    outdated: isPlaceholderData,
    reading: isFetching || (on && !answered && searching),
    error: isFetching ? null : error,
    again: () => void refetch(),
  };
}

/** The snapshot is gone, or is too far behind: only a new one will do. */
export function needsSnapshot(error: Error): boolean {
  return error instanceof ApiError && error.reason.startsWith("SNAPSHOT_");
}
