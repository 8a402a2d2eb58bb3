import { useLayoutEffect, useState } from "react";
import { inSlices, type Outcome, type Slices } from "#/lib/slices.ts";

interface Sliced<T> {
  /** What was worked out last; undefined before the first time and after a failure. */
  readonly value: T | undefined;
  readonly error: unknown;
  /** Something else is being worked out. */
  readonly working: boolean;
}

interface State<T> {
  readonly work: () => Slices<T> | undefined;
  readonly outcome: Outcome<T>;
}

/**
 * Works something out in slices, and anew whenever `work` is another. What takes no longer than a slice
 * is there before the page is painted.
 */
export function useSliced<T>(work: () => Slices<T> | undefined): Sliced<T> {
  const [state, setState] = useState<State<T>>();
  useLayoutEffect(() => {
    const slices = work();
    if (!slices) return;
    const take = (outcome: Outcome<T>) => setState({ work, outcome });
    const first = inSlices(slices, take);
    if (typeof first === "function") return first;
    take(first);
    return undefined;
  }, [work]);
  const outcome = state?.outcome;
  return {
    value: outcome && "value" in outcome ? outcome.value : undefined,
    error: outcome && "error" in outcome ? outcome.error : undefined,
    working: state?.work !== work,
  };
}
