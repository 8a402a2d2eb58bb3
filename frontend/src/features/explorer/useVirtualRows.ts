import { useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, type RefObject, useEffect, useImperativeHandle } from "react";
import type { Density } from "#/lib/search.ts";
import type { Rows } from "./rows.ts";

export interface ListHandle {
  readonly focus: () => void;
  /** Scrolls as little as shows the event. */
  readonly reveal: (index: number) => void;
  /** The same without taking the focus. */
  readonly show: (index: number) => void;
}

/** Of the head and of the rules between days. */
const rowHeight = 28;
const touchRowHeight = 56;
/** What floats over the end of the list, and a row. */
const coveredHeight = 76;
const densityHeights: Readonly<Record<Density, number>> = { dense: 24, normal: 28, roomy: 36 };

/** The rows in sight of a list whose rows have fixed heights, under a head of one row. */
export function useVirtualRows(
  ref: Ref<ListHandle>,
  scroller: RefObject<HTMLElement | null>,
  { rows, rowOf }: Rows,
  { narrow, density, covered }: { narrow: boolean; density: Density; covered: boolean },
) {
  const eventHeight = narrow ? touchRowHeight : densityHeights[density];
  const headHeight = narrow ? 0 : rowHeight;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.kind === "event" ? eventHeight : rowHeight),
    overscan: 12,
    paddingStart: headHeight,
    scrollPaddingStart: headHeight,
    scrollPaddingEnd: covered ? coveredHeight : 0,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes follow the layout
  useEffect(() => virtual.measure(), [eventHeight, rows, virtual]);

  useImperativeHandle(ref, () => {
    const focus = () => scroller.current?.focus({ preventScroll: true });
    const show = (index: number) => {
      const row = rowOf[index];
      // With the last event its end is shown, or that there is more.
      if (row !== undefined) virtual.scrollToIndex(row === rows.length - 2 ? row + 1 : row);
    };
    return {
      focus,
      show,
      reveal: (index) => {
        focus();
        show(index);
      },
    };
  }, [scroller, rows, rowOf, virtual]);

  const items = virtual.getVirtualItems();
  const offset = (virtual.scrollOffset ?? 0) + headHeight;
  return {
    items,
    height: virtual.getTotalSize(),
    first: rows[items.find((item) => item.end > offset)?.index ?? 0],
    last: items.at(-1)?.index ?? 0,
    /** Events that fit into the list, less two so that a page overlaps the one before. */
    page: () => Math.max(Math.floor((scroller.current?.clientHeight ?? 0) / eventHeight) - 2, 1),
  };
}
