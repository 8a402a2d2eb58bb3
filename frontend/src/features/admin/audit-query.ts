import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { type AuditEntry, listAuditEntries } from "#/api/oriel.gen.ts";
import { type AuditView, auditParams } from "./audit-url.ts";

const pageSize = 100;

export interface Entries {
  /** Undefined until the first answer. */
  readonly entries: readonly AuditEntry[] | undefined;
  readonly error: Error | null;
  readonly reading: boolean;
  /** The rows are those of an earlier filter. */
  readonly outdated: boolean;
  readonly hasOlder: boolean;
  readonly older: () => void;
  readonly loadingOlder: boolean;
  /** Why the older ones did not come; those above are complete. */
  readonly olderError: Error | null;
  readonly refresh: () => void;
}

export function useEntries(view: AuditView): Entries {
  const filter = auditParams(view);
  const list = useInfiniteQuery({
    queryKey: ["audit", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      listAuditEntries({ ...filter, pageSize, ...(pageParam && { pageToken: pageParam }) }, { signal }),
    getNextPageParam: ({ nextPageToken }) => nextPageToken,
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  const { data, error, isFetchNextPageError } = list;
  return {
    entries: data?.pages.flatMap(({ entries }) => entries),
    error: isFetchNextPageError ? null : error,
    reading: list.isFetching && !list.isFetchingNextPage,
    outdated: list.isPlaceholderData,
    hasOlder: list.hasNextPage,
    older: () => void list.fetchNextPage({ cancelRefetch: false }),
    loadingOlder: list.isFetchingNextPage,
    olderError: isFetchNextPageError ? error : null,
    refresh: () => void list.refetch(),
  };
}
