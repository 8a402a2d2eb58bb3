import { skipToken, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  type CreateSavedSearchRequest,
  createSavedSearch,
  deleteSavedSearch,
  getSavedSearch,
  listSavedSearches,
  type SavedSearch,
  type UpdateSavedSearchRequest,
  updateSavedSearch,
} from "#/api/oriel.gen.ts";
import { ApiError } from "#/lib/http.ts";
import { numberOf, type Opened } from "./saved.ts";

const listKey = ["saved-searches"] as const;
const oneKey = (number: string | undefined) => ["saved-search", number] as const;

/** One's own and the shared ones, by name; read anew whenever they are shown. */
export function useSavedList() {
  return useInfiniteQuery({
    queryKey: listKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      listSavedSearches({ pageSize: 500, ...(pageParam && { pageToken: pageParam }) }, { signal }),
    getNextPageParam: (page) => page.nextPageToken || undefined,
    staleTime: 0,
  });
}

/** The saved search as it is now, which others may have changed since it was opened. */
export function useSaved(opened: Opened | undefined) {
  return useQuery({
    queryKey: oneKey(opened?.number),
    queryFn: opened ? ({ signal }) => getSavedSearch(opened.number, { signal }) : skipToken,
    staleTime: 60_000,
    refetchOnWindowFocus: true,
  });
}

export type Change =
  | { readonly kind: "create"; readonly request: CreateSavedSearchRequest }
  | { readonly kind: "update"; readonly number: string; readonly request: UpdateSavedSearchRequest }
  | { readonly kind: "delete"; readonly number: string; readonly version: number };

/** Nothing is tried twice: a change that was not answered may have been made. */
export function useChangeSaved() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (change: Change): Promise<SavedSearch | undefined> => {
      switch (change.kind) {
        case "create":
          return await createSavedSearch(change.request);
        case "update":
          return await updateSavedSearch(change.number, change.request);
        case "delete":
          await deleteSavedSearch(change.number, { version: change.version });
          return undefined;
      }
    },
    onSuccess: (saved, change) => {
      if (saved) client.setQueryData(oneKey(numberOf(saved)), saved);
      else if (change.kind === "delete") client.removeQueries({ queryKey: oneKey(change.number) });
    },
    onError: (_, change) => {
      if (change.kind !== "create") void client.invalidateQueries({ queryKey: oneKey(change.number) });
    },
    onSettled: () => client.invalidateQueries({ queryKey: listKey }),
  });
}

/** Somebody changed it since the version that was seen. */
export function isConflict(error: Error | null): boolean {
  return error instanceof ApiError && error.code === 409 && error.reason === "VERSION_CONFLICT";
}

export function isGone(error: Error | null): boolean {
  return error instanceof ApiError && error.code === 404;
}
