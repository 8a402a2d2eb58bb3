import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type Ref,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Event } from "#/api/oriel.gen.ts";
import type { Filter, Search } from "#/lib/search.ts";
import { dayKey } from "#/lib/time.ts";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { useZone } from "#/ui/zone.tsx";
import { type CellName, cells, cellValue, isField } from "./EventRow.tsx";
import { ListHead } from "./ListHead.tsx";
import { EmptyResults, FailedResults, LoadingRows } from "./ListStates.tsx";
import { listCommand } from "./list-keys.ts";
import { layRows } from "./rows.ts";
import { useFits, useNarrow } from "./useFits.ts";
import { useHoveredCell } from "./useHoveredCell.ts";
import type { Run } from "./useRun.ts";
import { VirtualRows } from "./VirtualRows.tsx";

export interface ListHandle {
  readonly focus: () => void;
  /** Scrolls as little as shows the event. */
  readonly reveal: (index: number) => void;
}

const rowHeight = 28;
const touchRowHeight = 56;
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
}

export function EventList(props: EventListProps) {
  const { ref, run, search, words, cursor, onMove, onOpen, onAction, onCopy } = props;
  const zone = useZone();
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const fits = useFits(head, narrow);
  const { found, hasMore, more } = run;
  const events = found?.events ?? noEvents;
  const laid = useMemo(() => layRows(events, zone, dayKey(new Date().toISOString(), zone)), [events, zone]);
  const { rows, rowOf } = laid;
  const [column, setColumn] = useState<number>();
  const hovered = useHoveredCell(scroller);
  const height = narrow ? touchRowHeight : rowHeight;

  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.kind === "event" ? height : rowHeight),
    overscan: 12,
    paddingStart: narrow ? 0 : rowHeight,
    scrollPaddingStart: narrow ? 0 : rowHeight,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: sizes follow the layout
  useEffect(() => virtual.measure(), [height, rows, virtual]);

  useImperativeHandle(
    ref,
    () => ({
      focus: () => scroller.current?.focus({ preventScroll: true }),
      reveal: (index) => {
        scroller.current?.focus({ preventScroll: true });
        const row = rowOf[index];
        // With the last event its end is shown, or that there is more.
        if (row !== undefined) virtual.scrollToIndex(row === rows.length - 2 ? row + 1 : row);
      },
    }),
    [rows, rowOf, virtual],
  );

  const items = virtual.getVirtualItems();
  const nearEnd = (items.at(-1)?.index ?? 0) >= rows.length - ahead;
  const mayFetch = hasMore && !run.loadingMore && !run.moreError && !found?.lookedInVain;
  useEffect(() => {
    if (nearEnd && mayFetch) more();
  }, [nearEnd, mayFetch, more]);

  // A new snapshot starts at its newest row.
  const takenAt = found?.takenAt;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new snapshot scrolls
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [takenAt]);

  const active: CellName | undefined = column === undefined ? undefined : cells[column];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(Math.floor((scroller.current?.clientHeight ?? 0) / height) - 2, 1);
    const place = { cursor, count: events.length, page, column, columns: cells.length };
    const command = listCommand(event.key, place);
    if (!command) return;
    event.preventDefault();
    if (command.do === "move") onMove(command.to);
    else if (command.do === "column") setColumn(command.to);
    else if (command.do === "open") onOpen(Math.max(cursor, 0));
    else
      onValue(events[cursor], active, (cell, value) => {
        if (command.do === "copy") onCopy(value, cell);
        else if (isField(cell)) onAction(cell, value, command.action);
      });
  };

  if (!found && run.error) {
    return <FailedResults error={run.error} inQuery={props.faultInQuery} onRetry={run.again} />;
  }
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
      onClick={(event) => {
        if (!(event.target instanceof Element) || event.target.closest("button, a, [popover]")) return;
        const index = event.target.closest("[data-index]")?.getAttribute("data-index");
        if (index) onOpen(Number(index));
      }}
      className={`group/list relative min-h-0 flex-1 overflow-x-hidden overflow-y-auto overscroll-contain ${rendered ? "outline-none" : "-outline-offset-2"} ${stale}`}
    >
      <ListHead ref={head} zone={zone} />
      {!found && <LoadingRows narrow={narrow} />}
      {empty && (
        <EmptyResults found={found} search={search} onFilters={props.onFilters} onWindow={props.onWindow} />
      )}
      {found && !empty && (
        <VirtualRows
          items={items}
          height={virtual.getTotalSize()}
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

/** The value in a cell, where there is one. */
function onValue(
  event: Event | undefined,
  cell: CellName | undefined,
  use: (cell: CellName, value: string) => void,
): void {
  const value = event && cell && cellValue(event, cell);
  if (cell && value !== undefined) use(cell, value);
}
