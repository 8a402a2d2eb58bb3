import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type ColumnValue, type Event, listEvents } from "#/api/oriel.gen.ts";
import type { Field } from "#/lib/search.ts";
import type { FarCells, Missing } from "./cells.ts";
import { type Found, type FoundPage, kept } from "./useRun.ts";

/** The values of one column by event; undefined of events whose data were too much to read. */
type Values = ReadonlyMap<string, ColumnValue | undefined>;

const keyOf = ({ name, occurredAt }: Event) => `${occurredAt} ${name}`;

const queryKeyOf = (page: FoundPage, column: Field) => ["event-columns", page.request, column];

/** The pages that some rows in view belong to. */
export interface InView {
  readonly first: number;
  readonly last: number;
}

/**
 * Values that the list does not have by itself. Pages bring those of the columns that were there as they
 * were read; a column that is added later is read for the pages in view, and the rows stay as they are.
 */
export function useCells(found: Found | undefined, columns: readonly Field[]) {
  const pages = found?.pages ?? noPages;
  const lacking = useMemo(() => pages.some((page) => lackedBy(page, columns).length > 0), [pages, columns]);
  const seen = useRef<InView>({ first: 0, last: 0 });
  const [view, setRows] = useState<InView>();
  // Rows come into view much oftener than pages do, and where no page lacks a thing it does not matter which.
  const setView = useCallback(
    (next: InView) => {
      const coarse = (row: number) => Math.floor(row / 50) * 50;
      const [first, last] = [coarse(next.first), coarse(next.last) + 49];
      if (seen.current.first === first && seen.current.last === last) return;
      seen.current = { first, last };
      if (lacking) setRows(seen.current);
    },
    [lacking],
  );
  useEffect(() => setRows(lacking ? seen.current : undefined), [lacking]);
  const wanted = useMemo(() => missingOf(pages, columns, view), [pages, columns, view]);
  const client = useQueryClient();
  const answers = useQueries({
    queries: wanted.map(({ page, column }) => ({
      queryKey: queryKeyOf(page, column),
      queryFn: async ({ signal }: { signal: AbortSignal }): Promise<Values> => {
        const answer = await listEvents({ ...page.request, columns: [column] }, { signal });
        return new Map(answer.events.map((event) => [keyOf(event), event.columns?.[0]]));
      },
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: kept,
    })),
    combine: (results) => ({
      values: results.map(({ data }) => data),
      failed: results.map(({ isError }) => isError),
      error: results.find(({ error }) => error)?.error ?? undefined,
      again: () => {
        for (const result of results) if (result.isError) void result.refetch();
      },
    }),
  });
  const { values, failed, error, again } = answers;
  const far = useMemo(() => {
    const later = new Map<FoundPage, Map<Field, Values | Missing>>();
    for (const [index, { page, column }] of wanted.entries()) {
      const ofPage = later.get(page) ?? new Map<Field, Values | Missing>();
      later.set(page, ofPage.set(column, values[index] ?? (failed[index] ? "failed" : "waiting")));
    }
    return reader(pages, columns, later, (page, column) => client.getQueryData(queryKeyOf(page, column)));
  }, [pages, columns, wanted, values, failed, client]);
  return { far, error, again, setView };
}

const noPages: readonly FoundPage[] = [];

interface Wanted {
  readonly page: FoundPage;
  readonly column: Field;
}

function lackedBy(page: FoundPage, columns: readonly Field[]): readonly Field[] {
  return columns.filter((column) => !page.columns.includes(column));
}

/** What pages in view lack. */
function missingOf(
  pages: readonly FoundPage[],
  columns: readonly Field[],
  view: InView | undefined,
): readonly Wanted[] {
  const wanted: Wanted[] = [];
  if (!view) return wanted;
  let start = 0;
  for (const page of pages) {
    const end = start + page.events.length;
    if (start <= view.last && end > view.first) {
      wanted.push(...lackedBy(page, columns).map((column) => ({ page, column })));
    }
    start = end;
  }
  return wanted;
}

function reader(
  pages: readonly FoundPage[],
  columns: readonly Field[],
  later: Map<FoundPage, Map<Field, Values | Missing>>,
  /** Of a page that is out of view: what was read of it before. */
  earlier: (page: FoundPage, column: Field) => Values | undefined,
): FarCells {
  // Rows ask of the page that they are on; which one it is, is found once.
  let pageOf: Map<Event, FoundPage> | undefined;
  const valuesOf = (page: FoundPage, field: Field): Values | Missing => {
    const ofPage = later.get(page) ?? new Map<Field, Values | Missing>();
    const known = ofPage.get(field) ?? earlier(page, field) ?? "waiting";
    later.set(page, ofPage.set(field, known));
    return known;
  };
  return (event, field) => {
    if (!columns.includes(field)) return "unread";
    pageOf ??= new Map(pages.flatMap((page) => page.events.map((listed) => [listed, page] as const)));
    const page = pageOf.get(event);
    if (!page) return "waiting";
    const at = page.columns.indexOf(field);
    if (at >= 0) return event.columns?.[at] ?? "unread";
    const values = valuesOf(page, field);
    return typeof values === "string" ? values : (values.get(keyOf(event)) ?? "unread");
  };
}
