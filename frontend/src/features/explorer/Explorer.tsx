import { type ReactNode, useCallback, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import { queryWords } from "#/lib/highlight.ts";
import { ApiError } from "#/lib/http.ts";
import {
  applyAction,
  type Field,
  type Filter,
  type OpenEvent,
  readSearch,
  replaceFilter,
  type Search,
  writeSearch,
} from "#/lib/search.ts";
import { spelled } from "#/lib/visible.ts";
import { useFacetNames } from "#/ui/access.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { whenIdle } from "#/ui/part.tsx";
import { useSheetOpen } from "#/ui/sheet.tsx";
import { useUrl } from "#/ui/url.ts";
import { FieldActionsContext, type OnValueAction } from "#/ui/value-actions.tsx";
import { farFields } from "./cells.ts";
import { ColumnsSlot } from "./columns/ColumnsSlot.tsx";
import { EventList } from "./EventList.tsx";
import { AddFilter, FilterChips, useAddFilterKey } from "./FilterChips.tsx";
import { Footer } from "./Footer.tsx";
import { countedOf, FieldsSlot, ShowFields, StatisticsSlot } from "./facets/FieldsSlot.tsx";
import { useFacetPrefs } from "./facets/useFacetPrefs.ts";
import { HistogramBox, useHistogramShown } from "./histogram/HistogramBox.tsx";
import { useHistogram } from "./histogram/useHistogram.ts";
import { CompareSlot, ListBars } from "./ListBars.tsx";
import { NarrowTools } from "./NarrowTools.tsx";
import { LegendPart, preloadAsked } from "./parts.ts";
import { QueryBar, type QueryBarHandle } from "./QueryBar.tsx";
import { type Panel, SearchActions, SearchPanel } from "./SearchActions.tsx";
import { StatusStrip } from "./StatusStrip.tsx";
import { TimePicker } from "./TimePicker.tsx";
import { useCells } from "./useCells.ts";
import { useColumns } from "./useColumns.ts";
import { type Show, useCursor } from "./useCursor.ts";
import { useExplorerKeys } from "./useExplorerKeys.ts";
import { useFarEvent } from "./useFarEvent.ts";
import { useFind } from "./useFind.ts";
import { useOncePainted } from "./useOncePainted.ts";
import { type Pair, usePicked } from "./usePicked.ts";
import { useRun } from "./useRun.ts";
import { useNewer, useTotal } from "./useTotals.ts";
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
  const { params, go } = useUrl();
  const facets = useFacetNames();
  const search = useMemo(() => readSearch(params, facets), [params, facets]);
  const setColumns = useCallback(
    (columns: Search["columns"]) => go(writeSearch({ ...search, columns }), quietly(search)),
    [go, search],
  );
  const columns = useColumns(search.columns, setColumns);
  const farColumns = useMemo(() => farFields(columns.shown, facets), [columns.shown, facets]);
  const run = useRun(search, farColumns);
  const cells = useCells(run.found, farColumns);
  const copy = useCopy();
  const bar = useRef<QueryBarHandle>(null);
  const list = useRef<ListHandle>(null);
  const [timeOpen, setTimeOpen] = useState(false);

  const events = run.found?.events ?? noEvents;
  const show = useCallback<Show>(
    (next, options) => {
      const whole = { ...search, ...next };
      run.renew(whole);
      go(writeSearch(whole), options);
    },
    [go, search, run.renew],
  );
  const zoom = useCallback(
    (bounds: Pick<Search, "from" | "until">) => {
      show(bounds);
      run.narrow({ ...search, ...bounds });
    },
    [show, run.narrow, search],
  );
  const setFilters = useCallback((filters: readonly Filter[]) => show({ filters }), [show]);
  const onAction = useCallback<OnValueAction>(
    (field, value, action) => show({ filters: applyAction(search.filters, field, value, action) }),
    [show, search.filters],
  );

  const cursor = useCursor(events, search.open, list, show);
  const { openIndex, moveTo, step } = cursor;

  /** The query was run from its bar, and what came of it is not known yet. */
  const applied = useRef(false);
  const apply = useCallback(
    (query: string) => {
      if (query === search.query) run.again();
      else show({ query });
      // The keys of the list work at once.
      list.current?.focus();
      applied.current = true;
    },
    [search.query, run.again, show],
  );

  const find = useFind(events, columns.shown, cells.far);
  const findBar = useRef<{ readonly focus: () => void }>(null);
  const picked = usePicked();
  const [comparing, setComparing] = useState<Pair>();
  const pick = useCallback(
    (index: number) => {
      const event = events[index];
      if (!event) return;
      cursor.set(index);
      picked.toggle(event);
    },
    [events, picked.toggle, cursor.set],
  );
  const backToList = useCallback(() => list.current?.focus(), []);

  useExplorerKeys({
    again: run.again,
    search: () => bar.current?.focus(),
    time: () => setTimeOpen(true),
    find: () => {
      find.open();
      findBar.current?.focus();
    },
    compare: () => setComparing(picked.pair),
    select: () => pick(Math.max(cursor.at, 0)),
    step,
    first: () => moveTo(0),
    last: () => moveTo(events.length - 1),
    leave: () => {
      if (search.open) cursor.close();
      else if (find.text !== undefined) find.close();
      else if (picked.events.length > 0) picked.clear();
    },
  });

  const [histogramShown, setHistogramShown] = useHistogramShown();
  const histogram = useHistogram(run, search, histogramShown);
  const total = useTotal(run, search, histogram);
  const newer = useNewer(run, search);

  const prefs = useFacetPrefs();
  const splitFields = useMemo(() => [...attributes, ...facets], [facets]);
  const [fieldsOpen, setFieldsOpen] = useState(false);
  /** The field whose statistics are shown. */
  const [breakdown, setBreakdown] = useState<Field>();
  const sidebar = {
    run,
    search,
    prefs,
    total: countedOf(total),
    onFilters: setFilters,
    onAction,
    onCopy: copy,
    onStatistics: setBreakdown,
    onFocusLost: () => list.current?.focus(),
  };

  const [panel, setPanel] = useState<Panel>();
  const showWhole = useCallback(
    (next: Search, options?: { replace?: boolean }) => {
      run.renew(next);
      go(writeSearch(next), options);
    },
    [go, run.renew],
  );

  useAddFilterKey();
  const hasRows = run.found !== undefined;
  const beside = useOncePainted(hasRows || run.error !== null || run.cancelled);
  useEffect(() => (hasRows ? onRows() : undefined), [hasRows, onRows]);
  useEffect(() => (beside ? whenIdle(preloadAsked) : undefined), [beside]);
  useFarEvent(run, search.open, openIndex, list);

  const covered = useSheetOpen();
  const narrow = useNarrow();
  // Nothing stands below the row of the time window.
  const bare = narrow && search.filters.length === 0 && Object.keys(search.unknown).length === 0;
  useEffect(() => {
    document.title = search.query === "" ? "Explore · Oriel" : `${spelled(search.query)} · Oriel`;
  }, [search.query]);
  const fault = queryFault(run.error);
  const faultId = useId();
  useEffect(() => {
    if (!applied.current || run.searching) return;
    applied.current = false;
    const { activeElement } = document;
    const left = activeElement === document.body || activeElement?.matches("[role=grid]");
    // It is gone on with where it was refused.
    if (fault && left) bar.current?.goOn();
  }, [fault, run.searching]);
  const ways = useMemo(() => waysOut(search, show), [search, show]);
  // What was asked for since has found none of the rows.
  const foundBy = run.found?.query ?? "";
  const marks = useMemo(() => ({ words: queryWords(foundBy), part: find.text ?? "" }), [foundBy, find.text]);
  const fieldActions = useMemo(
    () => ({
      hasColumn: columns.has,
      full: columns.full,
      addColumn: columns.add,
      removeColumn: columns.remove,
      openBreakdown: setBreakdown,
    }),
    [columns],
  );
  const [columnsOpen, setColumnsOpen] = useState(false);
  const columnsSlot = (
    <ColumnsSlot
      columns={columns}
      search={search}
      run={run}
      facets={facets}
      open={columnsOpen}
      onOpenChange={setColumnsOpen}
      onDensity={(density) => show({ density }, quietly(search))}
    />
  );
  return (
    <FieldActionsContext value={fieldActions}>
      <main className="group/page flex min-h-0 flex-1 flex-col">
        <h1 className="sr-only">Explore</h1>
        <div
          inert={covered}
          role="search"
          className={`flex flex-none flex-wrap items-center gap-2 bg-surface px-4 pt-2 wide:flex-nowrap wide:px-3 flat:flex-nowrap short:pt-1.5 ${bare ? "border-b border-line pb-2" : "pb-1"}`}
        >
          <QueryBar
            ref={bar}
            due={beside}
            applied={search.query}
            fault={fault}
            faultId={faultId}
            facets={facets}
            narrow={narrow}
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
            <NarrowTools
              filters={search.filters.length}
              fieldsOpen={fieldsOpen}
              onFields={() => setFieldsOpen(true)}
              onPanel={setPanel}
              onColumns={() => setColumnsOpen(true)}
              onFind={find.open}
              histogramShown={histogramShown}
              onHistogram={setHistogramShown}
            />
          )}
        </div>
        <FilterChips
          covered={covered}
          filters={search.filters}
          unknown={search.unknown}
          onChange={setFilters}
          onUnknown={(unknown) => show({ unknown })}
          arrival={search}
          onArrival={show}
          facets={facets}
          actions={<SearchActions search={search} facets={facets} onPanel={setPanel} />}
        />
        <SearchPanel
          panel={panel}
          search={search}
          facets={facets}
          run={run}
          total={total}
          onSearch={showWhole}
          onClose={() => setPanel(undefined)}
        />
        <div
          className="group relative grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)] wide:grid-cols-[auto_minmax(0,1fr)] dock:data-open:grid-cols-[auto_minmax(0,1fr)_var(--drawer)]"
          data-open={search.open ? "" : undefined}
        >
          <FieldsSlot
            due={beside}
            sidebar={sidebar}
            total={total}
            covered={covered}
            open={fieldsOpen}
            onClose={() => setFieldsOpen(false)}
            addFilter={
              <AddFilter
                facets={facets}
                onAdd={(filter) => setFilters(replaceFilter(search.filters, undefined, filter))}
              />
            }
          />
          <StatisticsSlot
            field={breakdown}
            sidebar={sidebar}
            splitFields={splitFields}
            onSplit={(split) => show({ split }, quietly(search))}
            onClose={() => setBreakdown(undefined)}
          />
          <section
            inert={covered}
            aria-label="Results"
            className="relative flex min-h-0 min-w-0 flex-col bg-surface"
          >
            <StatusStrip
              run={run}
              fields={<ShowFields prefs={prefs} />}
              fault={fault}
              faultId={faultId}
              waysOut={ways}
              total={total}
              newer={newer}
              legend={
                <>
                  {beside && (
                    <LegendPart
                      box={histogram}
                      search={search}
                      fields={splitFields}
                      shown={histogramShown}
                      onShown={setHistogramShown}
                      onSplit={(split) => show({ split }, quietly(search))}
                      onAction={onAction}
                      failed={() => null}
                    />
                  )}
                  {columnsSlot}
                </>
              }
            />
            {histogramShown && (
              <HistogramBox
                due={beside}
                run={run}
                box={histogram}
                busy={search.open !== undefined}
                onZoom={zoom}
              />
            )}
            <EventList
              ref={list}
              run={run}
              search={search}
              marks={marks}
              covered={find.text !== undefined || picked.events.length > 0}
              columns={columns}
              facets={facets}
              far={cells.far}
              onView={cells.setView}
              isPicked={picked.has}
              onPick={pick}
              onBreakdown={setBreakdown}
              cursor={cursor.at}
              onMove={moveTo}
              onOpen={cursor.open}
              onAction={onAction}
              onCopy={copy}
              onQuery={apply}
              onFilters={setFilters}
              onWindow={(from, until) => show({ from, until })}
              faultInQuery={fault !== undefined}
              ways={ways}
            />
            <ListBars
              run={run}
              cells={cells}
              picked={picked}
              find={find}
              findBar={findBar}
              cursor={cursor.at}
              onGo={cursor.goTo}
              onCompare={() => setComparing(picked.pair)}
              onLeave={backToList}
            />
            <Footer run={run} />
          </section>
          {search.open &&
            detail({
              open: search.open,
              listed: events[openIndex],
              onClose: cursor.close,
              onStep: openIndex < 0 ? undefined : step,
              loaded: run.outdated || run.loadingMore ? undefined : events.length,
              onAction,
            })}
        </div>
        <CompareSlot
          pair={comparing}
          onCopy={copy}
          onClose={() => {
            setComparing(undefined);
            backToList();
          }}
        />
      </main>
    </FieldActionsContext>
  );
}

const attributes: readonly Field[] = ["severity", "type", "source", "subject"];

const noEvents: readonly Event[] = [];

/**
 * How the page is shown makes no step to go back to, but beside an open event: closing that goes a step
 * back, which would undo it.
 */
function quietly({ open }: Search): { replace: boolean } {
  return { replace: open === undefined };
}
