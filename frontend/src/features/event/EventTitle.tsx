import { Fragment, type RefObject, useLayoutEffect, useRef, useState } from "react";
import { spelled, titleLines } from "#/lib/visible.ts";
import { monoWidth } from "#/ui/mono.ts";
import { Visible } from "#/ui/visible.tsx";

/** A type as a heading: two lines at most, broken between its parts, with both ends in sight. */
export function EventTitle({ as: Heading, text, size }: { as: "h1" | "h2"; text: string; size: 12 | 14 }) {
  const box = useRef<HTMLHeadingElement>(null);
  const columns = useTitleColumns(box, size);
  const font = size === 14 ? "text-[14px]/5" : "text-[12px]/4";
  return (
    <Heading
      ref={box}
      title={spelled(text)}
      aria-label={spelled(text)}
      className={`min-w-0 flex-1 overflow-hidden font-mono font-semibold ${font}`}
    >
      {titleLines(text, columns).map((line, index) => (
        <Fragment key={line}>
          {index > 0 && <wbr />}
          <span className="whitespace-nowrap">
            <Visible text={line} />
          </span>
        </Fragment>
      ))}
    </Heading>
  );
}

function useTitleColumns(box: RefObject<HTMLElement | null>, size: number): number {
  const [columns, setColumns] = useState(30);
  // Before the first paint, or the lines would be seen to jump.
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    // Semibold digits may be wider than the measured ones by a fraction.
    const char = monoWidth(size) * 1.01;
    const measure = () => setColumns(Math.max(Math.floor(element.clientWidth / char), 8));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, size]);
  return columns;
}
