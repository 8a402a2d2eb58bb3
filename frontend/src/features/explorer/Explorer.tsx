import { useRouter } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import { shortName } from "#/lib/event-name.ts";
import { queryWords } from "#/lib/highlight.ts";
import { ApiError } from "#/lib/http.ts";
import {
  applyAction,
  type Filter,
  type OpenEvent,
  readSearch,
  type Search,
  writeSearch,
} from "#/lib/search.ts";
import { useCopy } from "#/ui/copy.tsx";
import { useKeys } from "#/ui/keys.tsx";
import { useSheetOpen } from "#/ui/sheet.tsx";
import { useUrl } from "#/ui/url.ts";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { EventList } from "./EventList.tsx";
import { FilterChips } from "./FilterChips.tsx";
import { Footer } from "./Footer.tsx";
import { QueryBar, type QueryBarHandle } from "./QueryBar.tsx";
import { StatusStrip } from "./StatusStrip.tsx";
import { TimePicker } from "./TimePicker.tsx";
import { useRun } from "./useRun.ts";
import type { ListHandle } from "./useVirtualRows.ts";

/** What the page hands to the pane that shows one event. */
export interface DetailProps {
  readonly open: OpenEvent;
  /** The event as the list has it, shown until its details are here. */
  readonly listed: Event | undefined;
  readonly onClose: () => void;
  readonly onStep: ((by: 1 | -1) => void) | undefined;
  readonly onAction: OnValueAction;
}

const queryReasons = new Set(["UNSUPPORTED_QUERY_SYNTAX", "EMPTY_QUERY"]);

function queryFault(error: Error | null): ApiError | undefined {
  return error instanceof ApiError && queryReasons.has(error.reason) ? error : undefined;
}

export function Explorer({ detail }: { detail: (props: DetailProps) => ReactNode }) {
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
    Escape: () => {
      if (search.open) close();
    },
  });

  const covered = useSheetOpen();
  useEffect(() => {
    document.title = search.query === "" ? "Explore · Oriel" : `${search.query} · Oriel`;
  }, [search.query]);
  const fault = queryFault(run.error);
  // A query that was not run found none of the rows.
  const words = useMemo(() => (fault ? [] : queryWords(search.query)), [fault, search.query]);
  return (
    <main className="flex min-h-0 flex-1 flex-col">
      <h1 className="sr-only">Explore</h1>
      <div
        inert={covered}
        role="search"
        className="flex flex-wrap items-center gap-1.5 bg-surface px-4 pt-2 wide:flex-nowrap wide:gap-2 wide:px-3"
      >
        <QueryBar ref={bar} applied={search.query} fault={fault} onApply={apply} />
        <TimePicker
          from={search.from}
          until={search.until}
          found={run.found}
          outdated={run.outdated}
          open={timeOpen}
          onOpenChange={setTimeOpen}
          onChange={(from, until) => show({ from, until })}
        />
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
          <StatusStrip run={run} faultInQuery={fault !== undefined} />
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
          />
          <Footer run={run} />
        </section>
        {search.open &&
          detail({
            open: search.open,
            listed: events[openIndex],
            onClose: close,
            onStep: openIndex < 0 ? undefined : step,
            onAction,
          })}
      </div>
    </main>
  );
}

const noEvents: readonly Event[] = [];

function indexOf(events: readonly Event[], open: OpenEvent | undefined): number {
  if (!open) return -1;
  return events.findIndex(
    (event) =>
      shortName(event.name) === open.name && (open.time === undefined || event.occurredAt === open.time),
  );
}
