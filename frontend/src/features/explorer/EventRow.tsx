import { Fragment, memo } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import { highlight } from "#/lib/highlight.ts";
import type { Field, UsualField } from "#/lib/search.ts";
import { summarise } from "#/lib/summary.ts";
import { dateAndTime, timeOfDay } from "#/lib/time.ts";
import { elideMiddle } from "#/lib/visible.ts";
import { Badge } from "#/ui/controls.tsx";
import { Severity } from "#/ui/severity.tsx";
import { type OnValueAction, ValueActions } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";

/** The columns a cursor can stand on, in order; all but the first and the last hold filterable values. */
export const cells = ["time", "severity", "type", "source", "subject", "summary"] as const;
export type CellName = (typeof cells)[number];

export function cellValue(event: Event, cell: CellName): string | undefined {
  return cell === "time" ? event.time : event[cell];
}

export function isField(cell: CellName): cell is UsualField {
  return cell !== "time" && cell !== "summary";
}

/** How many characters fit into the columns that hold identifiers. */
export interface Fits {
  readonly type: number;
  /** Of a type that has no severity beside it; more only where the two share a line. */
  readonly typeAlone: number;
  readonly source: number;
  readonly subject: number;
}

export interface RowProps {
  readonly event: Event;
  readonly index: number;
  readonly id: string;
  readonly zone: string;
  readonly fits: Fits;
  readonly words: readonly string[];
  readonly current: boolean;
  /** The cell under the pointer. */
  readonly hovered: Field | undefined;
  /** The cell that the keyboard is on. */
  readonly active: CellName | undefined;
  readonly onAction: OnValueAction;
  readonly onCopy: (text: string, what: string) => void;
}

/** What the actions on a value take of its column. */
const actionColumns = 11;

export const EventRow = memo(function EventRow(props: RowProps) {
  const { event, index, zone, fits, current, active } = props;
  const emphasised =
    event.severity === "error" || event.severity === "critical" || event.severity === "emergency";
  const cell = (name: CellName, extra = "") => ({
    role: "gridcell" as const,
    id: `${props.id}-${name}`,
    "data-field": name,
    className: `relative overflow-hidden wide:h-full wide:content-center ${active === name ? "outline-2 -outline-offset-2 outline-focus rounded-1 bg-active" : ""} ${extra}`,
  });
  // Beside the actions both ends of the value stay in sight.
  const room = (field: Field, columns: number) =>
    props.hovered === field ? Math.max(columns - actionColumns, 4) : columns;
  const actions = (field: UsualField) =>
    props.hovered === field && (
      <span
        className={`absolute inset-y-0 right-0 hidden items-center bg-linear-to-l from-70% pl-4 wide:flex ${current ? "from-accent-tint" : "from-hover"}`}
      >
        <ValueActions
          field={field}
          value={event[field] ?? ""}
          onAction={props.onAction}
          onCopy={props.onCopy}
          compact
          tabbable={false}
        />
      </span>
    );
  return (
    <div
      role="row"
      id={props.id}
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={current}
      className={`grid h-full cursor-default grid-cols-[auto_auto_minmax(0,1fr)] grid-rows-[20px_18px] content-center gap-x-2.5 px-4 mono-12 whitespace-nowrap hairline wide:grid-cols-(--list-columns) wide:grid-rows-none wide:content-stretch wide:items-center wide:gap-x-2 wide:px-3 ${current ? "bg-accent-tint shadow-[inset_2px_0_0_var(--color-accent-fill)] group-focus-visible/list:outline-1 group-focus-visible/list:-outline-offset-1 group-focus-visible/list:outline-focus" : "hover:bg-hover"}`}
    >
      <span
        {...cell("time", current ? "text-ink" : "text-ink-2")}
        title={`${dateAndTime(event.occurredAt, zone)}; sent as ${event.time}`}
      >
        {timeOfDay(event.occurredAt, zone)}
      </span>
      <span {...cell("severity")}>
        <Severity level={event.severity} />
        {event.severity && actions("severity")}
      </span>
      <Identifier
        {...cell("type", "text-ink max-wide:text-right")}
        text={event.type}
        columns={room("type", event.severity ? fits.type : fits.typeAlone)}
      >
        {actions("type")}
      </Identifier>
      <Identifier
        {...cell("source", "text-ink-2 max-wide:hidden")}
        text={event.source}
        columns={room("source", fits.source)}
      >
        {actions("source")}
      </Identifier>
      <Identifier
        {...cell("subject", "text-ink-2 max-wide:hidden")}
        text={event.subject}
        columns={room("subject", fits.subject)}
      >
        {event.subject !== undefined && actions("subject")}
      </Identifier>
      <span
        {...cell(
          "summary",
          `flex items-center gap-1.5 max-wide:col-span-3 max-wide:row-start-2 ${emphasised ? "text-ink" : "text-ink-2"}`,
        )}
      >
        <Summary event={event} words={props.words} />
      </span>
    </div>
  );
});

function Identifier({
  text,
  columns,
  children,
  ...cell
}: {
  text: string | undefined;
  columns: number;
  children: React.ReactNode;
  role: "gridcell";
  id: string;
  className: string;
}) {
  if (text === undefined) return <span {...cell} className={`${cell.className} text-ink-3`} title="Absent" />;
  return (
    <span {...cell} title={text}>
      <Visible text={elideMiddle(text, columns)} />
      {children}
    </span>
  );
}

function Summary({ event, words }: { event: Event; words: readonly string[] }) {
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
              <Visible text={part.text} render={(run) => <Marked text={run} words={words} />} />
            )}
          </Fragment>
        ))}
      </span>
    </>
  );
}

function Marked({ text, words }: { text: string; words: readonly string[] }) {
  if (words.length === 0) return text;
  return highlight(text, words).map((run) =>
    run.marked ? <mark key={run.start}>{run.text}</mark> : run.text,
  );
}
