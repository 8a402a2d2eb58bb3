/** The text in a cell, which others wrote. */
import { Fragment } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import { highlight } from "#/lib/highlight.ts";
import { summarise } from "#/lib/summary.ts";
import { elideMiddle } from "#/lib/visible.ts";
import { Badge, Skeleton } from "#/ui/controls.tsx";
import { Visible } from "#/ui/visible.tsx";
import type { CellValue, Missing } from "./cells.ts";

/** What is marked in texts. */
export interface Marks {
  /** Of the query. */
  readonly words: readonly string[];
  /** What is looked for in the results, within words too. */
  readonly part: string;
}

const missing: Readonly<Record<Exclude<Missing, "waiting">, { word: string; why: string }>> = {
  unread: {
    word: "not read",
    why: "The data of these rows are too much to be read for a column. Open the event to see it.",
  },
  failed: { word: "failed", why: "The values of this column could not be read." },
};

/** No cell shows more than this of a value. */
const longest = 400;

/** A value by its kind: what is absent, empty and null cannot be taken for a text. */
export function Value({
  cell,
  columns,
  marks,
}: {
  cell: CellValue | Missing;
  columns: number;
  marks: Marks;
}) {
  if (cell === "waiting") return <Skeleton width="60%" />;
  if (typeof cell === "string") {
    const { word, why } = missing[cell];
    return (
      <span className="t-11 text-ink-3" title={why}>
        {word}
      </span>
    );
  }
  const { kind, text } = cell;
  if (kind === "absent") return <span className="sr-only">Absent</span>;
  if (kind === "null") return <span className="text-ink-3">null</span>;
  if (kind === "string" && text === "") return <span className="text-ink-3">{'""'}</span>;
  const whole = kind === "object" || kind === "array" || kind === "several";
  return (
    <span className={whole || cell.cut ? "block cut" : undefined}>
      <Visible
        text={whole || cell.cut ? text.slice(0, longest) : elideMiddle(text, columns)}
        render={(run) => <Marked text={run} marks={marks} />}
      />
    </span>
  );
}

export function Summary({ event, marks }: { event: Event; marks: Marks }) {
  const { badge, parts } = summarise(event);
  return (
    <>
      {badge && <Badge look={event.dataKind === "invalid" ? "warning" : "outline"}>{badge}</Badge>}
      <span className="min-w-0 flex-1 cut">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the parts of an event never change
          <Fragment key={index}>
            {index > 0 && (part.kind === "key" ? "\u2002" : " ")}
            {part.kind === "key" ? (
              <span className="text-ink-3">
                <Visible text={part.text} />
              </span>
            ) : (
              <Visible text={part.text} render={(run) => <Marked text={run} marks={marks} />} />
            )}
          </Fragment>
        ))}
      </span>
    </>
  );
}

export function Marked({ text, marks }: { text: string; marks: Marks }) {
  const { words, part } = marks;
  if (words.length === 0 && part === "") return text;
  return highlight(text, words, part).map((run) =>
    run.marked ? <mark key={run.start}>{run.text}</mark> : run.text,
  );
}
