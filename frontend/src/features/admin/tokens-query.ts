import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { listTokens, type Token } from "#/api/oriel.gen.ts";
import { type TokensView, tokensParams } from "./tokens-url.ts";

const pageSize = 100;

export interface Tokens {
  /** Undefined until the first answer. */
  readonly tokens: readonly Token[] | undefined;
  /** How many match, and of these how many are revoked where that is not what was asked for. */
  readonly total: number;
  readonly revoked: number | undefined;
  readonly error: Error | null;
  readonly reading: boolean;
  /** The rows are those of an earlier filter. */
  readonly outdated: boolean;
  readonly more: (() => void) | undefined;
  readonly loadingMore: boolean;
  readonly refresh: () => void;
}

const key = "tokens";

export function useTokens(view: Pick<TokensView, "query" | "states">): Tokens {
  const filter = tokensParams(view);
  const list = useInfiniteQuery({
    queryKey: [key, "list", filter],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      listTokens({ ...filter, pageSize, ...(pageParam && { pageToken: pageParam }) }, { signal }),
    getNextPageParam: ({ nextPageToken }) => nextPageToken,
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  const whole = view.states.length === 0;
  const revoked = useQuery({
    queryKey: [key, "revoked", filter],
    queryFn: ({ signal }) => listTokens({ ...filter, state: ["revoked"], pageSize: 1 }, { signal }),
    select: ({ total }) => total,
    enabled: whole,
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  const refresh = useRefreshTokens();
  const { data, error, isFetching, isPlaceholderData, hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  return {
    tokens: data?.pages.flatMap(({ tokens }) => tokens),
    // The newest answer counts.
    total: data?.pages.at(-1)?.total ?? 0,
    revoked: whole ? revoked.data : undefined,
    error,
    reading: isFetching && !isFetchingNextPage,
    outdated: isPlaceholderData,
    more: hasNextPage ? () => void fetchNextPage({ cancelRefetch: false }) : undefined,
    loadingMore: isFetchingNextPage,
    refresh,
  };
}

/** Reads all that is shown of tokens anew. */
export function useRefreshTokens(): () => void {
  const client = useQueryClient();
  return useCallback(() => void client.invalidateQueries({ queryKey: [key] }), [client]);
}

/** An active token that has a name already. */
export function useSameName(displayName: string): Token | undefined {
  const { data } = useQuery({
    queryKey: [key, "named", displayName],
    queryFn: ({ signal }) => listTokens({ q: displayName, state: ["active"], pageSize }, { signal }),
    enabled: displayName !== "",
    staleTime: 0,
  });
  return data?.tokens.find((token) => token.displayName === displayName);
}
