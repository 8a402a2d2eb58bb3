import { type RefObject, useEffect, useState } from "react";
import { monoWidth } from "#/ui/mono.ts";
import type { Fits } from "./EventRow.tsx";

const unmeasured: Fits = { type: 30, typeAlone: 30, source: 25, subject: 22 };
/** Of the one-column layout: time, severity, gaps and margins leave the rest to the type. */
const narrowRest = 226;
/** What a severity takes there beyond its dash. */
const severityColumns = 8;

/** How many characters each column of identifiers holds, as wide as it is now. */
export function useFits(head: RefObject<HTMLElement | null>, narrow: boolean): Fits {
  const [fits, setFits] = useState(unmeasured);
  useEffect(() => {
    const element = head.current;
    if (!element) return;
    const measure = () => {
      const char = monoWidth(12);
      const columns = (index: number) =>
        Math.max(
          Math.floor(((element.children[index] as HTMLElement | undefined)?.offsetWidth ?? 0) / char),
          4,
        );
      const type = narrow
        ? Math.max(Math.floor((document.documentElement.clientWidth - narrowRest) / char), 12)
        : columns(2);
      if (narrow) setFits({ ...unmeasured, type, typeAlone: type + severityColumns });
      else setFits({ type, typeAlone: type, source: columns(3), subject: columns(4) });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(narrow ? document.documentElement : element);
    return () => observer.disconnect();
  }, [head, narrow]);
  return fits;
}
