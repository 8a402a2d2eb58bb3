import { memo, type ReactNode } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import type { Column, Field } from "#/lib/search.ts";
import { dateAndTime, timeOfDay } from "#/lib/time.ts";
import { elideMiddle, spelled } from "#/lib/visible.ts";
import { Icon } from "#/ui/icons.tsx";
import { Severity } from "#/ui/severity.tsx";
import { type OnValueAction, ValueActions } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";
import { Marked, type Marks, Summary, Value } from "./CellText.tsx";
import { cellId, cellOf, copied, type FarCells, isNumber, searched } from "./cells.ts";
import { columnTitle } from "./columns.ts";

/** How many characters fit into each column. */
export interface Fits {
  readonly columns: ReadonlyMap<Field, number>;
  /** Of a type that has no severity beside it; more only where the two share a line. */
  readonly typeAlone: number;
}

export interface RowProps {
  readonly event: Event;
  readonly index: number;
  readonly id: string;
  readonly zone: string;
  readonly columns: readonly Column[];
  readonly far: FarCells;
  readonly fits: Fits;
  readonly marks: Marks;
  /** In the layout of one column. */
  readonly narrow: boolean;
  readonly current: boolean;
  /** It is selected to be compared. */
  readonly picked: boolean;
  /** The cell under the pointer. */
  readonly hovered: Field | undefined;
  /** The cell that the keyboard is on. */
  readonly active: Field | undefined;
  readonly onAction: OnValueAction;
  readonly onCopy: (text: string, what: string) => void;
  /** Selects the event to be compared, or no longer. */
  readonly onPick: (index: number) => void;
}

/** What the actions on a value take of its column. */
const actionColumns = 11;
/** Characters of a column that was not measured yet. */
const unmeasured = 24;

const identifiers: readonly Field[] = ["type", "source", "subject", "id"];
/** In one column these stand in the first line, and the usual others nowhere. */
const firstLine: readonly Field[] = ["time", "severity", "type"];
const wideOnly: readonly Field[] = ["source", "subject"];

export const EventRow = memo(function EventRow(props: RowProps) {
  const { event, index, columns, current, narrow } = props;
  const shown = narrow ? columns.filter(({ field }) => firstLine.includes(field)) : columns;
  return (
    <div
      role="row"
      id={props.id}
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={current}
      className={`group/row relative grid h-full cursor-default grid-cols-[auto_auto_minmax(0,1fr)] grid-rows-[20px_18px] content-center gap-x-2.5 px-4 mono-12 whitespace-nowrap hairline wide:grid-cols-(--list-columns) wide:grid-rows-none wide:content-stretch wide:items-center wide:gap-x-2 wide:px-3 ${current ? "bg-accent-tint shadow-[inset_2px_0_0_var(--color-accent-fill)] group-focus-visible/list:outline-1 group-focus-visible/list:-outline-offset-1 group-focus-visible/list:outline-focus" : props.picked ? "bg-active" : "hover:bg-hover"}`}
    >
      {shown.map(({ field }) => (
        <Cell key={field} {...props} field={field} column={columns.findIndex((c) => c.field === field)} />
      ))}
      {narrow && (
        <span
          role="gridcell"
          className="col-span-3 row-start-2 flex items-center gap-1.5 overflow-hidden text-ink-2"
        >
          {columns.map(({ field }) => (
            <SecondLine key={field} {...props} event={event} field={field} />
          ))}
        </span>
      )}
      {/* For the mouse: the keyboard has a key, and the menu of every value the same. */}
      <span
        aria-hidden="true"
        data-pick
        title={props.picked ? "No longer compare (x)" : "Select to compare (x)"}
        className={`absolute inset-y-0 left-0 hidden w-3 items-center justify-center wide:flex ${props.picked ? "text-accent" : "text-ink-3 opacity-0 group-hover/row:opacity-100 hover:text-ink"}`}
      >
        {props.picked ? (
          <Icon name="check" small />
        ) : (
          <span className="size-2.5 rounded-[2px] border border-current" />
        )}
      </span>
      {props.picked && (
        <span className="absolute inset-y-0 left-0 flex items-center text-accent">
          <Icon name="check" small className="wide:hidden" />
          <span className="sr-only">Selected to compare</span>
        </span>
      )}
    </div>
  );
});

function SecondLine({ event, field, far, marks }: RowProps & { field: Field }) {
  if (firstLine.includes(field) || wideOnly.includes(field)) return null;
  if (field === "summary") return <Summary event={event} marks={marks} />;
  return (
    <span className="flex-none">
      <span className="text-ink-3">{columnTitle(field)}</span>{" "}
      <Value cell={cellOf(event, field, far)} columns={unmeasured} marks={marks} />
    </span>
  );
}

function Cell(props: RowProps & { field: Field; column: number }) {
  const { event, field, column, active, narrow } = props;
  const { look, title, children } = contentOf(props);
  return (
    <span
      role="gridcell"
      id={cellId(props.id, field, column)}
      data-field={field}
      title={title && spelled(title)}
      className={`relative overflow-hidden wide:h-full ${field === "summary" ? "flex items-center gap-1.5" : "wide:content-center"} ${active === field ? "rounded-1 bg-active outline-2 -outline-offset-2 outline-focus" : ""} ${field === "type" ? "max-wide:text-right" : ""} ${look}`}
    >
      {children}
      {!narrow && <CellActions {...props} event={event} />}
    </span>
  );
}

interface Content {
  readonly look: string;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}

function contentOf(props: RowProps & { field: Field }): Content {
  const { event, field, zone, current, marks, fits } = props;
  const emphasised =
    event.severity === "error" || event.severity === "critical" || event.severity === "emergency";
  switch (field) {
    case "time":
      return {
        look: current ? "text-ink" : "text-ink-2",
        title: `${dateAndTime(event.occurredAt, zone)}; sent as ${event.time}`,
        children: timeOfDay(event.occurredAt, zone),
      };
    case "ingestTime":
      return {
        look: "text-ink-2",
        title: `Received ${dateAndTime(event.ingestTime, zone)}`,
        children: timeOfDay(event.ingestTime, zone),
      };
    case "severity":
      return { look: "", children: <Severity level={event.severity} /> };
    case "summary":
      return {
        look: emphasised ? "text-ink" : "text-ink-2",
        children: <Summary event={event} marks={marks} />,
      };
  }
  const cell = cellOf(event, field, props.far);
  const alone = field === "type" && event.severity === undefined;
  const all = alone ? fits.typeAlone : (fits.columns.get(field) ?? unmeasured);
  // Beside the actions both ends of the value stay in sight.
  const columns = props.hovered === field ? Math.max(all - actionColumns, 4) : all;
  const text = copied(cell);
  if (text !== undefined && identifiers.includes(field)) {
    return {
      look: field === "type" ? "text-ink" : "text-ink-2",
      title: text,
      children: (
        <Visible
          text={elideMiddle(text, columns)}
          render={(run) => <Marked text={run} marks={props.marks} />}
        />
      ),
    };
  }
  const whole = typeof cell !== "string" && cell.cut ? `${text}…` : text;
  return {
    look: isNumber(cell) ? "text-ink-2 wide:text-right" : "text-ink-2",
    title: whole ?? (typeof cell === "string" ? undefined : "Absent"),
    children: <Value cell={cell} columns={columns} marks={marks} />,
  };
}

function CellActions(props: RowProps & { field: Field }) {
  const { field, event, index, far, hovered, current, picked, onAction, onCopy, onPick } = props;
  if (hovered !== field) return null;
  const cell = cellOf(event, field, far);
  const value = searched(field, cell);
  if (value === undefined) return null;
  return (
    <span
      className={`absolute inset-y-0 hidden items-center from-70% wide:flex ${isNumber(cell) ? "left-0 bg-linear-to-r pr-4" : "right-0 bg-linear-to-l pl-4"} ${current ? "from-accent-tint" : "from-hover"}`}
    >
      <ValueActions
        field={field}
        value={value}
        onAction={onAction}
        onCopy={onCopy}
        more={[
          [
            {
              label: picked ? "No longer compare" : "Select to compare",
              icon: "check",
              key: "x",
              onSelect: () => onPick(index),
            },
          ],
        ]}
        compact
        tabbable={false}
      />
    </span>
  );
}
