import { type RefObject, useEffect, useRef } from "react";
import type { OpenEvent } from "#/lib/search.ts";
import type { Run } from "./useRun.ts";
import type { ListHandle } from "./useVirtualRows.ts";

/** So many rows are read unasked to find the place of an event that a link opened. */
const farthest = 1000;

/** Reads on to the open event where it lies behind the loaded rows, and brings it into view. */
export function useFarEvent(
  run: Run,
  open: OpenEvent | undefined,
  index: number,
  list: RefObject<ListHandle | null>,
): void {
  const { found, hasMore, more } = run;
  const last = found?.events.at(-1);
  const before =
    open?.time !== undefined && last !== undefined && Date.parse(last.occurredAt) >= Date.parse(open.time);
  const readOn = index < 0 && before && hasMore && !run.loadingMore && !run.moreError;
  const within = (found?.events.length ?? 0) < farthest;
  useEffect(() => {
    if (readOn && within) more();
  }, [readOn, within, more]);

  // The place of a list that was left and is shown again is left alone: the event was found at once.
  const sought = useRef<string>(undefined);
  const name = open?.name;
  useEffect(() => {
    if (name === undefined) sought.current = undefined;
    else if (index < 0) sought.current = name;
    else if (sought.current === name) {
      sought.current = undefined;
      list.current?.show(index);
    }
  }, [name, index, list]);
}
