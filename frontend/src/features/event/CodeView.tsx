import { useCallback, useRef } from "react";
import type { CodeDocument } from "#/lib/code.ts";
import type { Slices } from "#/lib/slices.ts";
import { Piece } from "./Piece.tsx";
import { useColumns } from "./useColumns.ts";
import { useFixedRows } from "./useFixedRows.ts";
import { useSliced } from "./useSliced.ts";
import { useSourceCopy } from "./useSourceCopy.ts";

const lineHeight = 20;
const padding = 8;

/** Rows of a document, of which only those in sight are in the page. */
export function CodeView({
  label,
  build,
  onMore,
  className,
}: {
  label: string;
  /** Lays the document out for a number of columns. */
  build: (columns: number) => Slices<CodeDocument>;
  /** Asks for all of the value on a line. */
  onMore?: (line: number) => void;
  className: string;
}) {
  const scroller = useRef<HTMLElement>(null);
  const columns = useColumns(scroller);
  const work = useCallback(() => (columns === undefined ? undefined : build(columns)), [build, columns]);
  const { value: document } = useSliced(work);
  const rows = document?.rows ?? 0;
  const view = useFixedRows(scroller, rows, lineHeight, padding);
  useSourceCopy(scroller, document?.slice);
  return (
    <section
      ref={scroller}
      aria-label={label}
      aria-busy={document === undefined}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      className={`overflow-auto overscroll-x-contain mono-12 leading-5 -outline-offset-2 ${className}`}
    >
      <div className="relative" style={{ height: view.height }}>
        {Array.from({ length: view.to - view.from }, (_, at) => view.from + at).map((row) => (
          <div
            key={row}
            className="absolute inset-x-0 top-0 px-4 whitespace-pre"
            style={{ height: lineHeight, transform: `translateY(${view.top(row)}px)` }}
          >
            {document?.row(row).map((fragment, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row's fragments never move
              <Piece key={index} fragment={fragment} slice={document.slice} onMore={onMore} />
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}
