import { type KeyboardEvent, type Ref, useEffect, useMemo, useRef, useState } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import type { Field, Filter, Search } from "#/lib/search.ts";
import { dayKey, shortDay } from "#/lib/time.ts";
import { useSay } from "#/ui/copy.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { useZone } from "#/ui/zone.tsx";
import type { Marks } from "./CellText.tsx";
import { cellId, cellOf, copied, type FarCells, isColumn, numeric, searched, unsearched } from "./cells.ts";
import { columnWidth, isPlainColumn } from "./columns.ts";
import { ListHead } from "./ListHead.tsx";
import { CancelledResults, EmptyResults, FailedResults, LoadingRows } from "./ListStates.tsx";
import { type ListCommand, listCommand } from "./list-keys.ts";
import { layRows, type Row } from "./rows.ts";
import type { InView } from "./useCells.ts";
import type { Columns } from "./useColumns.ts";
import { measureColumns, useFits } from "./useFits.ts";
import { useHoveredCell } from "./useHoveredCell.ts";
import { usePlace } from "./usePlace.ts";
import type { Run } from "./useRun.ts";
import { type ListHandle, useVirtualRows } from "./useVirtualRows.ts";
import { VirtualRows } from "./VirtualRows.tsx";
import type { WayOut } from "./ways-out.ts";

/** Fewer rows than this below the last shown one, and the next page is fetched. */
const ahead = 30;

interface EventListProps {
  ref: Ref<ListHandle>;
  run: Run;
  search: Search;
  marks: Marks;
  /** Something floats over the last rows. */
  covered: boolean;
  cursor: number;
  columns: Columns;
  facets: readonly Field[];
  far: FarCells;
  /** Tells which rows are in view. */
  onView: (view: InView) => void;
  isPicked: (event: Event) => boolean;
  onPick: (index: number) => void;
  onBreakdown: (field: Field) => void;
  onMove: (index: number) => void;
  onOpen: (index: number) => void;
  onAction: OnValueAction;
  onCopy: (text: string, what: string) => void;
  onQuery: (query: string) => void;
  onFilters: (filters: readonly Filter[]) => void;
  onWindow: (from: string | undefined, until: string | undefined) => void;
  faultInQuery: boolean;
  ways: readonly WayOut[];
}

export function EventList(props: EventListProps) {
  const { run } = props;
  if (!run.found && run.error) {
    return <FailedResults run={run} error={run.error} inQuery={props.faultInQuery} ways={props.ways} />;
  }
  if (!run.found && run.cancelled) return <CancelledResults onAgain={run.again} />;
  return <Grid {...props} />;
}

function Grid(props: EventListProps) {
  const { ref, run, search, marks, cursor, onOpen, onAction, onCopy, columns, far, facets, onView } = props;
  const zone = useZone();
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const { shown, setMeasure } = columns;
  const fits = useFits(head, shown, narrow);
  const { found, hasMore, more } = run;
  const events = found?.events ?? noEvents;
  const today = dayKey(new Date().toISOString(), zone);
  const laid = useMemo(() => layRows(events, zone, today), [events, zone, today]);
  const { rows, rowOf } = laid;
  const [column, setColumn] = useState<number>();
  const hovered = useHoveredCell(scroller);
  const say = useSay();
  const numbers = useMemo(
    () =>
      numeric(
        shown.map(({ field }) => field),
        events,
        far,
      ),
    [shown, events, far],
  );
  const density = search.density ?? "normal";
  const virtual = useVirtualRows(ref, scroller, laid, { narrow, density, covered: props.covered });
  const { items, height, first, last, page } = virtual;

  const nearEnd = last >= rows.length - ahead;
  const mayFetch = hasMore && !run.loadingMore && !run.moreError && !found?.lookedInVain;
  useEffect(() => {
    if (nearEnd && mayFetch) more();
  }, [nearEnd, mayFetch, more]);
  useEffect(() => setMeasure(() => measureColumns(head.current, shown)), [setMeasure, shown]);
  const inView = eventsAmong(rows, items[0]?.index ?? 0, last);
  useEffect(() => onView({ first: inView.first, last: inView.last }), [onView, inView.first, inView.last]);

  const keepPlace = usePlace(scroller, run.outdated ? undefined : found?.takenAt);

  // Of a column that was removed the next one is active.
  const at = column === undefined ? undefined : Math.min(column, shown.length - 1);
  const active = at === undefined ? undefined : shown[at]?.field;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = { cursor, count: events.length, page: page(), column: at, columns: shown.length };
    const command = listCommand(event.key, place, event.shiftKey);
    if (!command) return;
    event.preventDefault();
    if (command.do === "column") setColumn(command.to);
    else if (command.do === "shift" && at !== undefined) {
      const to = Math.max(0, Math.min(at + command.by, shown.length - 1));
      if (active) columns.move(active, to);
      setColumn(to);
    } else obey(command, { ...props, onSay: say, event: events[cursor], cell: active, head: head.current });
  };

  const rendered = items.some((item) => item.index === rowOf[cursor]);
  const empty = found !== undefined && events.length === 0 && !run.outdated && !hasMore;
  const stale = run.outdated && found ? "[&_[role=row]_*]:text-ink-3! [&_mark]:bg-transparent" : "";
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label="Events"
      aria-busy={run.searching}
      aria-rowcount={hasMore ? -1 : events.length + 1}
      aria-activedescendant={rendered ? activeId(cursor, active, at) : undefined}
      tabIndex={0}
      style={narrow ? undefined : columns.style}
      onKeyDown={onKeyDown}
      onScroll={keepPlace}
      onClick={(event) => {
        if (!(event.target instanceof Element) || event.target.closest("button, a, [popover]")) return;
        const index = event.target.closest("[data-index]")?.getAttribute("data-index");
        if (!index) return;
        if (event.ctrlKey || event.metaKey || event.target.closest("[data-pick]"))
          props.onPick(Number(index));
        else onOpen(Number(index));
      }}
      className={`group/list relative min-h-0 flex-1 overflow-x-hidden overflow-y-auto overscroll-contain wide:@container ${search.columns ? "wide:overflow-x-auto" : ""} ${rendered ? "outline-none" : "-outline-offset-2"} ${stale}`}
    >
      <ListHead
        ref={head}
        columns={shown}
        numeric={numbers}
        known={(field) => isColumn(field, facets)}
        actions={{ ...columns, breakdown: props.onBreakdown }}
        zone={zone}
        day={dayInView(first, events, zone, today)}
        at={instantOf(first, events) ?? Date.now()}
      />
      {!found && <LoadingRows narrow={narrow} columns={shown.length} density={density} />}
      {empty && (
        <EmptyResults
          found={found}
          search={search}
          onQuery={props.onQuery}
          onFilters={props.onFilters}
          onWindow={props.onWindow}
        />
      )}
      {found && !empty && (
        <VirtualRows
          items={items}
          height={height}
          rows={rows}
          run={run}
          found={found}
          cursor={cursor}
          active={active}
          hovered={hovered}
          shared={{ zone, columns: shown, far, fits, marks, narrow, onAction, onCopy, onPick: props.onPick }}
          isPicked={props.isPicked}
        />
      )}
    </div>
  );
}

const noEvents: readonly Event[] = [];

function activeId(cursor: number, active: Field | undefined, column: number | undefined): string {
  const row = `event-${cursor}`;
  return active === undefined ? row : cellId(row, active, column ?? 0);
}

/** The events among some rows. */
function eventsAmong(rows: readonly Row[], from: number, to: number): InView {
  const index = (row: Row | undefined) => (row?.kind === "event" ? row.index : undefined);
  const first = index(rows[from]) ?? index(rows[from + 1]) ?? 0;
  return { first, last: index(rows[to]) ?? index(rows[to - 1]) ?? first };
}

interface Obeying
  extends Pick<
    EventListProps,
    "cursor" | "columns" | "far" | "onMove" | "onOpen" | "onAction" | "onCopy" | "onBreakdown"
  > {
  readonly onSay: (text: string) => void;
  readonly event: Event | undefined;
  readonly cell: Field | undefined;
  readonly head: HTMLElement | null;
}

/** Does what a key asked for; what is about a value needs a cell that has one. */
function obey(command: Exclude<ListCommand, { do: "column" }>, at: Obeying): void {
  if (command.do === "move") at.onMove(command.to);
  else if (command.do === "open") at.onOpen(Math.max(at.cursor, 0));
  else if (at.cell !== undefined) obeyInCell(command, at, at.cell);
}

type InCell = Exclude<ListCommand, { do: "column" | "move" | "open" }>;

function obeyInCell(command: InCell, at: Obeying, field: Field): void {
  const { columns } = at;
  switch (command.do) {
    case "breakdown":
      if (!isPlainColumn(field)) at.onBreakdown(field);
      return;
    case "remove":
      columns.remove(field);
      return;
    case "shift":
      return;
    case "widen": {
      const column = columns.shown.find((shown) => shown.field === field) ?? { field };
      const width = measureColumns(at.head, columns.shown).get(field) ?? columnWidth(column);
      columns.resize(field, width + command.by);
      return;
    }
  }
  if (!at.event) return;
  const cell = cellOf(at.event, field, at.far);
  if (command.do === "copy") {
    const text = copied(cell);
    if (text !== undefined) at.onCopy(text, field);
    return;
  }
  const value = searched(field, cell);
  if (value !== undefined) at.onAction(field, value, command.action);
  else at.onSay(unsearched(field, cell) ?? "");
}

function instantOf(row: Row | undefined, events: readonly Event[]): number | undefined {
  const event = row?.kind === "event" ? events[row.index] : undefined;
  return event && Date.parse(event.occurredAt);
}

/**
 * The rows show the time of day alone, so above them stands the day of the first in view; today goes
 * without saying.
 */
function dayInView(
  row: Row | undefined,
  events: readonly Event[],
  zone: string,
  today: string,
): string | undefined {
  const event = row?.kind === "event" ? events[row.index] : undefined;
  return event && dayKey(event.occurredAt, zone) !== today ? shortDay(event.occurredAt, zone) : undefined;
}
