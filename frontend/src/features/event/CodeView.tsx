import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { CodeDocument, Fragment, FragmentKind } from "#/lib/code.ts";
import { Badge } from "#/ui/controls.tsx";
import { monoWidth } from "#/ui/mono.ts";
import { Glyph } from "#/ui/visible.tsx";
import { copiedText } from "./selection.ts";

const lineHeight = 20;
const padding = 8;

const colours: Readonly<Record<FragmentKind, string>> = {
  text: "",
  key: "text-ink-2",
  string: "text-syn-string",
  number: "text-syn-number",
  literal: "text-syn-op",
  punct: "text-ink-3",
  glyph: "",
  dim: "text-ink-3",
  // Its character stays in the text, to be copied.
  break: "text-ink-3 before:content-[attr(data-glyph)]",
  duplicate: "",
  exact: "",
};

/** Rows of a document, of which only those in sight are in the page. */
export function CodeView({
  label,
  build,
  className,
}: {
  label: string;
  /** Lays the document out for a number of columns. */
  build: (columns: number) => CodeDocument;
  className: string;
}) {
  const scroller = useRef<HTMLElement>(null);
  const columns = useColumns(scroller);
  const document = useMemo(() => (columns === undefined ? undefined : build(columns)), [build, columns]);
  const rows = document?.rows ?? 0;
  const virtual = useVirtualizer({
    count: rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 20,
    paddingStart: padding,
    paddingEnd: padding,
  });
  // A selection is copied as the text that was received, not as it is broken into rows.
  useEffect(() => {
    const element = scroller.current;
    if (!element || !document) return;
    const page = element.ownerDocument;
    // On the page, as a selection may begin and end outside of the rows.
    const onCopy = (event: ClipboardEvent) => {
      // A text field has a selection of its own.
      if (event.defaultPrevented || (event.target as Element | null)?.closest?.("input, textarea")) return;
      const text = copiedText(element, document.slice);
      if (text === undefined) return;
      event.clipboardData?.setData("text/plain", text);
      event.preventDefault();
    };
    page.addEventListener("copy", onCopy);
    return () => page.removeEventListener("copy", onCopy);
  }, [document]);
  return (
    <section
      ref={scroller}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
      tabIndex={0}
      className={`overflow-auto overscroll-contain mono-12 leading-5 -outline-offset-2 ${className}`}
    >
      <div
        className="relative"
        style={{ height: rows === 0 ? padding * 2 + lineHeight : virtual.getTotalSize() }}
      >
        {virtual.getVirtualItems().map((item) => (
          <div
            key={item.key}
            className="absolute inset-x-0 top-0 px-4 whitespace-pre"
            style={{ height: lineHeight, transform: `translateY(${item.start}px)` }}
          >
            {document?.row(item.index).map((fragment, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row's fragments never move
              <Piece key={index} fragment={fragment} slice={document.slice} />
            ))}
          </div>
        ))}
      </div>
    </section>
  );
}

function Piece({ fragment, slice }: { fragment: Fragment; slice: CodeDocument["slice"] }) {
  const { kind, text, start, units } = fragment;
  if (kind === "duplicate") {
    return (
      <span className="ml-2 select-none">
        <Badge look="warning" title="This key occurs more than once in its object. Raw keeps every one.">
          {text}
        </Badge>
      </span>
    );
  }
  if (kind === "exact") {
    return (
      <span className="ml-2 select-none">
        <Badge look="outline" title="A double cannot hold this number; it is shown as received.">
          {text}
        </Badge>
      </span>
    );
  }
  if (kind === "glyph")
    return <Glyph name={text} char={slice(start, start + units)} data-start={start} data-units={units} />;
  if (kind === "break") {
    return (
      <span className={colours[kind]} data-glyph={text} data-start={start} data-units={units}>
        {"\n"}
      </span>
    );
  }
  if (start < 0) return <span className={colours[kind]}>{text}</span>;
  return (
    <span className={colours[kind]} data-start={start} data-units={units}>
      {text}
    </span>
  );
}

/** How many characters fit into a row; undefined until it has been measured. */
function useColumns(scroller: React.RefObject<HTMLElement | null>): number | undefined {
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
