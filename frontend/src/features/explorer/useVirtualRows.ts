import { type Ref, type RefObject, useImperativeHandle, useLayoutEffect, useMemo, useState } from "react";
import type { Density } from "#/lib/search.ts";
import { placeRows, type Rows, rowAt } from "./rows.ts";

/** A row in sight, and its place in the height of all. */
export interface PlacedRow {
  readonly index: number;
  readonly start: number;
  readonly size: number;
}

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
/** Rows beyond the edges that are in the page already. */
const overscan = 12;
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
  const starts = useMemo(
    () => placeRows(rows, headHeight, eventHeight, rowHeight),
    [rows, headHeight, eventHeight],
  );
  const [view, setView] = useState({ first: 0, last: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => {
      const top = element.scrollTop + headHeight;
      const first = rowAt(starts, top);
      const last = rowAt(starts, Math.max(element.scrollTop + element.clientHeight - 1, top));
      setView((was) => (was.first === first && was.last === last ? was : { first, last }));
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, [scroller, starts, headHeight]);

  useImperativeHandle(ref, () => {
    const focus = () => scroller.current?.focus({ preventScroll: true });
    const show = (index: number) => {
      const element = scroller.current;
      const row = rowOf[index];
      if (!element || row === undefined) return;
      // With the last event its end is shown, or that there is more.
      const shown = row === rows.length - 2 ? row + 1 : row;
      const start = (starts[shown] ?? 0) - headHeight;
      const end = (starts[shown + 1] ?? 0) + (covered ? coveredHeight : 0);
      if (start < element.scrollTop) element.scrollTop = start;
      else if (end > element.scrollTop + element.clientHeight) element.scrollTop = end - element.clientHeight;
    };
    return {
      focus,
      show,
      reveal: (index) => {
        focus();
        show(index);
      },
    };
  }, [scroller, rows, rowOf, starts, headHeight, covered]);

  const last = Math.min(view.last + overscan, rows.length - 1);
  const from = Math.max(Math.min(view.first, last) - overscan, 0);
  const items = Array.from({ length: last - from + 1 }, (_, at): PlacedRow => {
    const index = from + at;
    const start = starts[index] ?? 0;
    return { index, start, size: (starts[index + 1] ?? start) - start };
  });
  return {
    items,
    height: starts.at(-1) ?? 0,
    first: rows[view.first],
    last,
    /** Events that fit into the list, less two so that a page overlaps the one before. */
    page: () => Math.max(Math.floor((scroller.current?.clientHeight ?? 0) / eventHeight) - 2, 1),
  };
}
