import { useQuery } from "@tanstack/react-query";
import { type AlertList, getPipeline, listAlerts, type Pipeline } from "#/api/oriel.gen.ts";

/** So often the server reads it anew, at most. */
const every = 10_000;

interface Watched<T> {
  readonly data: T | undefined;
  readonly error: Error | null;
  readonly again: () => void;
}

function useWatched<T>(name: string, ask: (options: { signal: AbortSignal }) => Promise<T>): Watched<T> {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["overview", name],
    queryFn: ({ signal }) => ask({ signal }),
    staleTime: 0,
    refetchInterval: every,
    refetchIntervalInBackground: false,
  });
  return { data, error: isFetching && data === undefined ? null : error, again: () => void refetch() };
}

/** How events are stored now, whatever window the page shows. */
export function usePipeline(): Watched<Pipeline> {
  return useWatched("pipeline", getPipeline);
}

export function useAlerts(): Watched<AlertList> {
  return useWatched("alerts", listAlerts);
}
