import { useSyncExternalStore } from "react";

const narrowQuery = "(width <= 720px)";

function subscribe(notify: () => void): () => void {
  const media = matchMedia(narrowQuery);
  media.addEventListener("change", notify);
  return () => media.removeEventListener("change", notify);
}

/** Whether the page is in its one-column layout. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(narrowQuery).matches);
}
