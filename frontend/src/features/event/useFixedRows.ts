import { type RefObject, useCallback, useLayoutEffect, useState } from "react";

/** Rows beyond the edges that are in the page already. */
const overscan = 20;
/** The range moves by so many rows, so that most steps of a scroll change nothing. */
const stride = 10;

interface FixedRows {
  /** The rows in sight are from `from` to before `to`. */
  readonly from: number;
  readonly to: number;
  readonly height: number;
  readonly top: (row: number) => number;
  /** Scrolls as little as shows the row. */
  readonly reveal: (row: number) => void;
}

/** Which of many rows of one height are in sight. Unlike a list of measured rows it costs nothing a row. */
export function useFixedRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
  padding: number,
): FixedRows {
  const [window, setWindow] = useState({ first: 0, shown: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => {
      const first = Math.floor(Math.max(element.scrollTop - padding, 0) / rowHeight / stride) * stride;
      const shown = Math.ceil(element.clientHeight / rowHeight / stride + 1) * stride;
      setWindow((was) => (was.first === first && was.shown === shown ? was : { first, shown }));
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
    };
  }, [scroller, rowHeight, padding]);
  const top = useCallback((row: number) => padding + row * rowHeight, [padding, rowHeight]);
  const reveal = useCallback(
    (row: number) => {
      const element = scroller.current;
      if (!element) return;
      const start = top(row) - padding;
      const end = top(row + 1) + padding;
      if (start < element.scrollTop) element.scrollTop = start;
      else if (end > element.scrollTop + element.clientHeight) element.scrollTop = end - element.clientHeight;
    },
    [scroller, top, padding],
  );
  return {
    from: Math.max(Math.min(window.first, count) - overscan, 0),
    to: Math.min(window.first + window.shown + overscan, count),
    height: Math.max(count, 1) * rowHeight + padding * 2,
    top,
    reveal,
  };
}
