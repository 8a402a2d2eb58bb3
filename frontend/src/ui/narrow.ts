import { useSyncExternalStore } from "react";

function watched(query: string) {
  const subscribe = (notify: () => void) => {
    const media = matchMedia(query);
    media.addEventListener("change", notify);
    return () => media.removeEventListener("change", notify);
  };
  return () => useSyncExternalStore(subscribe, () => matchMedia(query).matches);
}

/** Whether the page is in its one-column layout. */
export const useNarrow = watched("(width <= 720px)");

/** Whether there is so little height, on its side or magnified, that the rows need what is not theirs. */
export const useShort = watched("(height < 560px)");
