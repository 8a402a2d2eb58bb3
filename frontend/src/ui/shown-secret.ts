import { useEffect, useSyncExternalStore } from "react";

/** How many parts of the page show a secret that is nowhere else. */
let count = 0;
const watchers = new Set<() => void>();

function add(change: number): void {
  count += change;
  for (const tell of watchers) tell();
}

function watch(tell: () => void): () => void {
  watchers.add(tell);
  return () => {
    watchers.delete(tell);
  };
}

/** Tells whatever would make the page go that a secret would go with it. */
export function useShowsSecret(shows: boolean): void {
  useEffect(() => {
    if (!shows) return;
    add(1);
    return () => add(-1);
  }, [shows]);
}

export function useSecretShown(): boolean {
  return useSyncExternalStore(watch, () => count > 0);
}
