import { type RefObject, useEffect, useState } from "react";
import type { Column, Field } from "#/lib/search.ts";
import { monoWidth } from "#/ui/mono.ts";
import type { Fits } from "./EventRow.tsx";

const unmeasured: Fits = { columns: new Map(), typeAlone: 30 };
/** Of the one-column layout: time, severity, gaps and margins leave the rest to the type. */
const narrowRest = 226;
/** What a severity takes there beyond its dash. */
const severityColumns = 8;

/** The width of each column as it is shown, in pixels. */
export function measureColumns(
  head: HTMLElement | null,
  columns: readonly Column[],
): ReadonlyMap<Field, number> {
  const widths = columns.map(({ field }, index): [Field, number] => [
    field,
    (head?.children[index] as HTMLElement | undefined)?.offsetWidth ?? 0,
  ]);
  return new Map(widths.filter(([, width]) => width > 0));
}

/** How many characters each column holds, as wide as it is now. */
export function useFits(
  head: RefObject<HTMLDivElement | null>,
  columns: readonly Column[],
  narrow: boolean,
): Fits {
  const [fits, setFits] = useState(unmeasured);
  useEffect(() => {
    const element = head.current;
    if (!element) return;
    const measure = () => {
      const char = monoWidth(12);
      if (narrow) {
        const type = Math.max(Math.floor((document.documentElement.clientWidth - narrowRest) / char), 12);
        setFits({ columns: new Map([["type", type]]), typeAlone: type + severityColumns });
        return;
      }
      const measured = new Map(
        [...measureColumns(element, columns)].map(([field, width]) => [
          field,
          Math.max(Math.floor(width / char), 4),
        ]),
      );
      setFits({ columns: measured, typeAlone: measured.get("type") ?? unmeasured.typeAlone });
    };
    measure();
    const observer = new ResizeObserver(measure);
    if (narrow) observer.observe(document.documentElement);
    else for (const cell of element.children) observer.observe(cell);
    return () => observer.disconnect();
  }, [head, columns, narrow]);
  return fits;
}
