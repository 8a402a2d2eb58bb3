import { useQueries } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { type ColumnValue, type Event, listEvents } from "#/api/oriel.gen.ts";
import type { Field } from "#/lib/search.ts";
import type { FarCells } from "./cells.ts";
import { type Found, type FoundPage, kept } from "./useRun.ts";

/** The values of some columns by event. */
interface Values {
  readonly columns: readonly Field[];
  readonly of: ReadonlyMap<string, readonly ColumnValue[] | undefined>;
}

const keyOf = ({ name, occurredAt }: Event) => `${occurredAt} ${name}`;

function valuesOf(columns: readonly Field[], events: readonly Event[]): Values {
  return { columns, of: new Map(events.map((event) => [keyOf(event), event.columns])) };
}

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
  const [view, setRows] = useState<InView>({ first: 0, last: 0 });
  // Rows come into view much oftener than pages do.
  const setView = useCallback((next: InView) => {
    const coarse = (row: number) => Math.floor(row / 50) * 50;
    const [first, last] = [coarse(next.first), coarse(next.last) + 49];
    setRows((before) => (before.first === first && before.last === last ? before : { first, last }));
  }, []);
  const pages = found?.pages ?? noPages;
  const wanted = useMemo(() => missingOf(pages, columns, view), [pages, columns, view]);
  const answers = useQueries({
    queries: wanted.map(({ page, missing, inView }) => ({
      queryKey: ["event-columns", page.request, missing],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const answer = await listEvents({ ...page.request, columns: [...missing] }, { signal });
        return valuesOf(missing, answer.events);
      },
      enabled: inView,
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
  const far = useMemo(
    () => reader(pages, columns, wanted, values, failed),
    [pages, columns, wanted, values, failed],
  );
  return { far, error, again, setView };
}

const noPages: readonly FoundPage[] = [];

interface Wanted {
  readonly page: FoundPage;
  readonly missing: readonly Field[];
  readonly inView: boolean;
}

function missingOf(pages: readonly FoundPage[], columns: readonly Field[], view: InView): readonly Wanted[] {
  const wanted: Wanted[] = [];
  let start = 0;
  for (const page of pages) {
    const end = start + page.events.length;
    const missing = columns.filter((column) => !page.columns.includes(column)).toSorted();
    if (missing.length > 0 && end > start) {
      wanted.push({ page, missing, inView: start <= view.last && end > view.first });
    }
    start = end;
  }
  return wanted;
}

function reader(
  pages: readonly FoundPage[],
  columns: readonly Field[],
  wanted: readonly Wanted[],
  values: readonly (Values | undefined)[],
  failed: readonly boolean[],
): FarCells {
  const later = new Map(wanted.map(({ page }, index) => [page, index]));
  // Rows ask of the page that they are on; which one it is, is found once.
  let pageOf: Map<Event, FoundPage> | undefined;
  return (event, field) => {
    if (!columns.includes(field)) return "unread";
    pageOf ??= new Map(pages.flatMap((page) => page.events.map((listed) => [listed, page] as const)));
    const page = pageOf.get(event);
    if (!page) return "waiting";
    const at = page.columns.indexOf(field);
    if (at >= 0) return event.columns?.[at] ?? "unread";
    const index = later.get(page) ?? -1;
    const answer = values[index];
    if (!answer) return failed[index] ? "failed" : "waiting";
    const column = answer.columns.indexOf(field);
    if (column < 0) return "waiting";
    return answer.of.get(keyOf(event))?.[column] ?? "unread";
  };
}
