import { type RefObject, useLayoutEffect, useState } from "react";
import { monoWidth } from "#/ui/mono.ts";

/** How many characters fit into a row; undefined until it has been measured. */
export function useColumns(scroller: RefObject<HTMLElement | null>): number | undefined {
  const [columns, setColumns] = useState<number>();
  // Before the first paint, or the page below would move.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const char = monoWidth(12);
    // The scroll bar's room is kept free, or its coming would lay everything out anew.
    const measure = () => setColumns(Math.max(Math.floor((element.offsetWidth - 48) / char), 16));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scroller]);
  return columns;
}
