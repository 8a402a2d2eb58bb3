import { useRouter } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import { shortName } from "#/lib/event-name.ts";
import { queryWords } from "#/lib/highlight.ts";
import { ApiError } from "#/lib/http.ts";
import {
  applyAction,
  type Filter,
  type OpenEvent,
  readSearch,
  replaceFilter,
  type Search,
  writeSearch,
} from "#/lib/search.ts";
import { buttonClass } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useKeys } from "#/ui/keys.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Menu } from "#/ui/popover.tsx";
import { useSheetOpen } from "#/ui/sheet.tsx";
import { useUrl } from "#/ui/url.ts";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { EventList } from "./EventList.tsx";
import { AddFilter, FilterChips } from "./FilterChips.tsx";
import { Footer } from "./Footer.tsx";
import { QueryBar, type QueryBarHandle } from "./QueryBar.tsx";
import { StatusStrip } from "./StatusStrip.tsx";
import { TimePicker } from "./TimePicker.tsx";
import { useFarEvent } from "./useFarEvent.ts";
import { useRun } from "./useRun.ts";
import type { ListHandle } from "./useVirtualRows.ts";
import { waysOut } from "./ways-out.ts";

/** What the page hands to the pane that shows one event. */
export interface DetailProps {
  readonly open: OpenEvent;
  /** The event as the list has it, shown until its details are here. */
  readonly listed: Event | undefined;
  readonly onClose: () => void;
  /** How many rows are loaded, where that is settled. */
  readonly loaded: number | undefined;
  readonly onStep: ((by: 1 | -1) => void) | undefined;
  readonly onAction: OnValueAction;
}

/** What the server says against the query itself, which stands in its own field. */
function queryFault(error: Error | null): ApiError | undefined {
  if (!(error instanceof ApiError) || error.code !== 400 || error.details.length === 0) return undefined;
  return error.details.every(({ metadata }) => metadata.attribute === "q") ? error : undefined;
}

export function Explorer({
  detail,
  onRows,
}: {
  detail: (props: DetailProps) => ReactNode;
  /** The first rows are there. */
  onRows: () => (() => void) | undefined;
}) {
  const router = useRouter();
  const { params, go } = useUrl();
  const search = useMemo(() => readSearch(params), [params]);
  const run = useRun(search);
  const copy = useCopy();
  const bar = useRef<QueryBarHandle>(null);
  const list = useRef<ListHandle>(null);
  const [timeOpen, setTimeOpen] = useState(false);

  const events = run.found?.events ?? noEvents;
  const openIndex = useMemo(() => indexOf(events, search.open), [events, search.open]);
  const [moved, setCursor] = useState(-1);
  // The open event is where the cursor is, whatever moved it there.
  const cursor = search.open ? openIndex : Math.min(moved, events.length - 1);

  const show = useCallback(
    (next: Partial<Search>, options?: { replace?: boolean; opened?: boolean }) =>
      go(writeSearch({ ...search, ...next }, params.zone), options),
    [go, search, params],
  );
  const setFilters = useCallback((filters: readonly Filter[]) => show({ filters }), [show]);
  const onAction = useCallback<OnValueAction>(
    (field, value, action) => show({ filters: applyAction(search.filters, field, value, action) }),
    [show, search.filters],
  );

  const open = useCallback(
    (index: number) => {
      const event = events[index];
      if (!event) return;
      setCursor(index);
      const target = { name: shortName(event.name), time: event.occurredAt };
      // One step back closes, however many rows were walked through.
      const already = search.open !== undefined;
      const opened = already ? router.history.location.state.opened === true : true;
      show({ open: target }, { replace: already, opened });
    },
    [events, search.open, show, router],
  );
  const close = useCallback(() => {
    if (openIndex >= 0) setCursor(openIndex);
    if (router.history.location.state.opened) router.history.back();
    else show({ open: undefined }, { replace: true });
    list.current?.focus();
  }, [openIndex, router, show]);
  const moveTo = useCallback(
    (index: number) => {
      if (events.length === 0) return;
      const next = Math.max(0, Math.min(index, events.length - 1));
      list.current?.reveal(next);
      if (search.open) open(next);
      else setCursor(next);
    },
    [events.length, search.open, open],
  );
  const step = useCallback((by: 1 | -1) => moveTo(cursor < 0 ? 0 : cursor + by), [moveTo, cursor]);

  const apply = useCallback(
    (query: string) => {
      if (query === search.query) run.again();
      else show({ query });
    },
    [search.query, run.again, show],
  );

  useKeys({
    "/": (event) => {
      event.preventDefault();
      bar.current?.focus();
    },
    d: (event) => {
      event.preventDefault();
      setTimeOpen(true);
    },
    r: () => run.again(),
    j: () => step(1),
    k: () => step(-1),
    // With the focus in the list these are its own.
    Home: (event) => fromBody(event, () => moveTo(0)),
    End: (event) => fromBody(event, () => moveTo(events.length - 1)),
    ArrowDown: (event) => fromBody(event, () => step(1)),
    ArrowUp: (event) => fromBody(event, () => step(-1)),
    Escape: () => {
      if (search.open) close();
    },
  });

  const hasRows = run.found !== undefined;
  useEffect(() => (hasRows ? onRows() : undefined), [hasRows, onRows]);
  useFarEvent(run, search.open, openIndex, list);

  const covered = useSheetOpen();
  const narrow = useNarrow();
  // Nothing stands below the row of the time window.
  const bare = narrow && search.filters.length === 0 && Object.keys(search.unknown).length === 0;
  useEffect(() => {
    document.title = search.query === "" ? "Explore · Oriel" : `${search.query} · Oriel`;
  }, [search.query]);
  const fault = queryFault(run.error);
  const faultId = useId();
  const ways = useMemo(() => waysOut(search, show), [search, show]);
  // A query that was not run found none of the rows.
  const words = useMemo(() => (fault ? [] : queryWords(search.query)), [fault, search.query]);
  return (
    <main className="flex min-h-0 flex-1 flex-col">
      <h1 className="sr-only">Explore</h1>
      <div
        inert={covered}
        role="search"
        className={`flex flex-none flex-wrap items-center gap-2 bg-surface px-4 pt-2 wide:flex-nowrap wide:px-3 ${bare ? "border-b border-line pb-2" : ""}`}
      >
        <QueryBar
          ref={bar}
          applied={search.query}
          fault={fault}
          faultId={faultId}
          onApply={apply}
          onLeave={() => list.current?.focus()}
        />
        <TimePicker
          from={search.from}
          until={search.until}
          found={run.found}
          outdated={run.outdated}
          open={timeOpen}
          onOpenChange={setTimeOpen}
          onChange={(from, until) => show({ from, until })}
        />
        {narrow && (
          <>
            <AddFilter onAdd={(filter) => setFilters(replaceFilter(search.filters, undefined, filter))} />
            <Menu
              label="More"
              align="end"
              items={[
                [
                  {
                    label: "Copy the address of this view",
                    icon: "link",
                    onSelect: () => copy(location.href, "the link"),
                  },
                ],
              ]}
              trigger={{
                className: `${buttonClass("plain", "large", true)} ml-auto`,
                "aria-label": "More",
                children: <Icon name="dots" />,
              }}
            />
          </>
        )}
      </div>
      <FilterChips
        covered={covered}
        filters={search.filters}
        unknown={search.unknown}
        onChange={setFilters}
        onUnknown={(unknown) => show({ unknown })}
      />
      <div
        className="group relative grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] dock:data-open:grid-cols-[minmax(0,1fr)_var(--drawer)]"
        data-open={search.open ? "" : undefined}
      >
        <section
          inert={covered}
          aria-label="Results"
          className="relative flex min-h-0 min-w-0 flex-col bg-surface"
        >
          <StatusStrip run={run} fault={fault} faultId={faultId} waysOut={ways} />
          <EventList
            ref={list}
            run={run}
            search={search}
            words={words}
            cursor={cursor}
            onMove={moveTo}
            onOpen={open}
            onAction={onAction}
            onCopy={copy}
            onFilters={setFilters}
            onWindow={(from, until) => show({ from, until })}
            faultInQuery={fault !== undefined}
            ways={ways}
          />
          <Footer run={run} />
        </section>
        {search.open &&
          detail({
            open: search.open,
            listed: events[openIndex],
            onClose: close,
            onStep: openIndex < 0 ? undefined : step,
            loaded: run.outdated || run.loadingMore ? undefined : events.length,
            onAction,
          })}
      </div>
    </main>
  );
}

const noEvents: readonly Event[] = [];

function fromBody(event: KeyboardEvent, move: () => void): void {
  if (event.target !== document.body) return;
  event.preventDefault();
  move();
}

function indexOf(events: readonly Event[], open: OpenEvent | undefined): number {
  if (!open) return -1;
  return events.findIndex(
    (event) =>
      shortName(event.name) === open.name && (open.time === undefined || event.occurredAt === open.time),
  );
}
