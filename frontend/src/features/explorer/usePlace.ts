import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { type RefObject, useCallback, useLayoutEffect } from "react";

const placesKey = ["explorer", "places"] as const;

/** How far down the list of a snapshot was scrolled. */
function placesOf(client: QueryClient): Map<string, number> {
  const kept = client.getQueryData<Map<string, number>>(placesKey);
  if (kept) return kept;
  const places = new Map<string, number>();
  client.setQueryDefaults(placesKey, { gcTime: Number.POSITIVE_INFINITY, structuralSharing: false });
  client.setQueryData(placesKey, places);
  return places;
}

/**
 * Where the list is scrolled to: a new snapshot starts at its newest row, and one that was left for
 * another page or search is shown again as it was left. Returns what is to be called on a scroll.
 */
export function usePlace(scroller: RefObject<HTMLElement | null>, snapshot: string | undefined): () => void {
  const client = useQueryClient();
  useLayoutEffect(() => {
    if (snapshot !== undefined)
      scroller.current?.scrollTo({ top: placesOf(client).get(snapshot) ?? 0, behavior: "instant" });
  }, [client, scroller, snapshot]);
  return useCallback(() => {
    if (snapshot !== undefined && scroller.current)
      placesOf(client).set(snapshot, scroller.current.scrollTop);
  }, [client, scroller, snapshot]);
}
