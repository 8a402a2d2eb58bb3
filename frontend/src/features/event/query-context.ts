import { useInfiniteQuery } from "@tanstack/react-query";
import { type Event, type EventContext, getEventContext, type ListEventsParams } from "#/api/oriel.gen.ts";
import type { OpenEvent, Surrounding } from "#/lib/search.ts";

/** As many are shown, and then added, each way. */
export const step = 5;

export interface Context {
  /** Newest first, without the event itself. */
  readonly newer: readonly Event[];
  readonly older: readonly Event[];
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
  /** From when on everything was looked at; undefined as long as there may be more. */
  readonly since: string | undefined;
}

export interface ContextRead {
  /** Undefined until the first answer. */
  readonly context: Context | undefined;
  readonly error: Error | null;
  readonly reading: boolean;
  readonly loading: "newer" | "older" | undefined;
  /** Why more did not come; what is shown holds. */
  readonly moreError: Error | null;
  readonly loadNewer: () => void;
  readonly loadOlder: () => void;
  readonly retry: () => void;
}

/** The events around one; `filter` are further conditions on them. */
export function useContextOf(open: OpenEvent, by: Surrounding, filter: ListEventsParams): ContextRead {
  const list = useInfiniteQuery({
    queryKey: ["context", open.name, open.time ?? null, by, filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      getEventContext(
        open.name,
        {
          ...filter,
          ...(open.time !== undefined && { time: open.time }),
          by,
          before: step,
          after: step,
          ...(pageParam !== undefined && { pageToken: pageParam }),
        },
        { signal },
      ),
    getNextPageParam: ({ beforeToken }) => beforeToken,
    getPreviousPageParam: ({ afterToken }) => afterToken,
    gcTime: 120_000,
  });
  const { data, error, isFetchNextPageError, isFetchPreviousPageError } = list;
  const moreFailed = isFetchNextPageError || isFetchPreviousPageError;
  return {
    context: data && contextOf(data.pages, list.hasPreviousPage, list.hasNextPage),
    error: moreFailed ? null : error,
    reading: list.isFetching,
    loading: list.isFetchingPreviousPage ? "newer" : list.isFetchingNextPage ? "older" : undefined,
    moreError: moreFailed ? error : null,
    loadNewer: () => void list.fetchPreviousPage({ cancelRefetch: false }),
    loadOlder: () => void list.fetchNextPage({ cancelRefetch: false }),
    retry: () => void list.refetch(),
  };
}

/** Pages are in order of time, the newest first, and each side of one has the nearest first. */
function contextOf(pages: readonly EventContext[], hasNewer: boolean, hasOlder: boolean): Context {
  return {
    newer: pages.flatMap(({ after }) => after.toReversed()),
    older: pages.flatMap(({ before }) => before),
    hasNewer,
    hasOlder,
    since: hasOlder ? undefined : pages.at(-1)?.covered.from,
  };
}
