import { type KeyboardEvent, type Ref, useEffect, useMemo, useRef, useState } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import type { Filter, Search } from "#/lib/search.ts";
import { dayKey, shortDay } from "#/lib/time.ts";
import { useNarrow } from "#/ui/narrow.ts";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { useZone } from "#/ui/zone.tsx";
import { type CellName, cells, cellValue, isField } from "./EventRow.tsx";
import { ListHead } from "./ListHead.tsx";
import { CancelledResults, EmptyResults, FailedResults, LoadingRows } from "./ListStates.tsx";
import { type ListCommand, listCommand } from "./list-keys.ts";
import { layRows, type Row } from "./rows.ts";
import { useFits } from "./useFits.ts";
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
  words: readonly string[];
  cursor: number;
  onMove: (index: number) => void;
  onOpen: (index: number) => void;
  onAction: OnValueAction;
  onCopy: (text: string, what: string) => void;
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
  const { ref, run, search, words, cursor, onOpen, onAction, onCopy } = props;
  const zone = useZone();
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const fits = useFits(head, narrow);
  const { found, hasMore, more } = run;
  const events = found?.events ?? noEvents;
  const today = dayKey(new Date().toISOString(), zone);
  const laid = useMemo(() => layRows(events, zone, today), [events, zone, today]);
  const { rows, rowOf } = laid;
  const [column, setColumn] = useState<number>();
  const hovered = useHoveredCell(scroller);
  const { items, height, first, last, page } = useVirtualRows(ref, scroller, laid, narrow);

  const nearEnd = last >= rows.length - ahead;
  const mayFetch = hasMore && !run.loadingMore && !run.moreError && !found?.lookedInVain;
  useEffect(() => {
    if (nearEnd && mayFetch) more();
  }, [nearEnd, mayFetch, more]);

  const keepPlace = usePlace(scroller, run.outdated ? undefined : found?.takenAt);

  const active: CellName | undefined = column === undefined ? undefined : cells[column];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = { cursor, count: events.length, page: page(), column, columns: cells.length };
    const command = listCommand(event.key, place);
    if (!command) return;
    event.preventDefault();
    if (command.do === "column") setColumn(command.to);
    else obey(command, { ...props, event: events[cursor], cell: active });
  };

  const rendered = items.some((item) => item.index === rowOf[cursor]);
  const empty = found !== undefined && events.length === 0 && !run.outdated && !hasMore;
  const stale = run.outdated && found ? "[&_[role=row]_*]:text-ink-3!" : "";
  return (
    <div
      ref={scroller}
      role="grid"
      aria-label="Events"
      aria-busy={run.searching}
      aria-rowcount={hasMore ? -1 : events.length + 1}
      aria-activedescendant={rendered ? `event-${cursor}${active ? `-${active}` : ""}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={keepPlace}
      onClick={(event) => {
        if (!(event.target instanceof Element) || event.target.closest("button, a, [popover]")) return;
        const index = event.target.closest("[data-index]")?.getAttribute("data-index");
        if (index) onOpen(Number(index));
      }}
      className={`group/list relative min-h-0 flex-1 overflow-x-hidden overflow-y-auto overscroll-contain ${rendered ? "outline-none" : "-outline-offset-2"} ${stale}`}
    >
      <ListHead
        ref={head}
        zone={zone}
        day={dayInView(first, events, zone, today)}
        at={instantOf(first, events) ?? Date.now()}
      />
      {!found && <LoadingRows narrow={narrow} />}
      {empty && (
        <EmptyResults found={found} search={search} onFilters={props.onFilters} onWindow={props.onWindow} />
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
          shared={{ zone, fits, words, onAction, onCopy }}
        />
      )}
    </div>
  );
}

const noEvents: readonly Event[] = [];

interface Obeying extends Pick<EventListProps, "cursor" | "onMove" | "onOpen" | "onAction" | "onCopy"> {
  readonly event: Event | undefined;
  readonly cell: CellName | undefined;
}

/** Does what a key asked for; copying and filtering need a cell that has a value. */
function obey(command: Exclude<ListCommand, { do: "column" }>, at: Obeying): void {
  const value = at.event && at.cell && cellValue(at.event, at.cell);
  if (command.do === "move") at.onMove(command.to);
  else if (command.do === "open") at.onOpen(Math.max(at.cursor, 0));
  else if (!at.cell || value === undefined) return;
  else if (command.do === "copy") at.onCopy(value, at.cell);
  else if (isField(at.cell)) at.onAction(at.cell, value, command.action);
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
