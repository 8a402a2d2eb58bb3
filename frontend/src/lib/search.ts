/**
 * What an explorer page shows, as its URL says it. The filter parameters are the API's own
 * (`type`, `type!`, …), so a page's URL and the request behind it read alike.
 */

import type { CreateSnapshotParams, ListEventsParams } from "#/api/oriel.gen.ts";
import { nameInPath } from "./event-name.ts";
import {
  asExcludedQuery,
  asQuery,
  enabled,
  type Filter,
  fields,
  filterName,
  fromExcludedQuery,
  isQueried,
  namedFilter,
  pinned,
  sortFilters,
} from "./filters.ts";
import { type Field, isPathField, splitOutsideQuotes } from "./language.ts";
import type { Params } from "./params.ts";

export {
  applyAction,
  asQuery,
  type ChipField,
  type Comparison,
  comparing,
  comparisonOf,
  type Filter,
  fields,
  filterName,
  filterOn,
  negated,
  opposite,
  pinned,
  presenceOf,
  replaceFilter,
  sortFilters,
  type UsualField,
  type ValueAction,
} from "./filters.ts";
export {
  condition,
  dataField,
  type Field,
  isField,
  isNumber,
  isPathField,
  isWritten as isWrittenField,
  readValue,
  type Step,
  type TypedValue,
  typed,
  type Value,
  type ValueKind,
  writtenValue,
} from "./language.ts";
export { formatQuery, type Params, parseQuery } from "./params.ts";

export interface OpenEvent {
  /** `{source}:{id}`, escaped as the API escapes it. */
  readonly name: string;
  readonly time: string | undefined;
}

export const payloadViews = ["tree", "pretty", "raw"] as const;
export type PayloadView = (typeof payloadViews)[number];

export function readView(params: Params): PayloadView | undefined {
  return payloadViews.find((view) => view === params.view?.[0]);
}

/** What the events around an open one have in common with it. */
export const surroundings = ["subject", "source", "trace", "all"] as const;
export type Surrounding = (typeof surroundings)[number];

export function readSurrounding(params: Params): Surrounding | undefined {
  return surroundings.find((by) => by === params.around?.[0]);
}

export const densities = ["dense", "normal", "roomy"] as const;
export type Density = (typeof densities)[number];

export interface Column {
  /** Also `time`, `summary` and `ingestTime`. */
  readonly field: Field;
  /** In pixels; undefined where it was not set. */
  readonly width?: number;
}

export interface Search {
  /** The query language, as it stands in the query bar. */
  readonly query: string;
  readonly filters: readonly Filter[];
  /** As written in the URL: RFC 3339 or relative; undefined is the server's default, a day. */
  readonly from: string | undefined;
  readonly until: string | undefined;
  /** When events were stored; undefined is whenever. */
  readonly arrivedFrom: string | undefined;
  readonly arrivedUntil: string | undefined;
  readonly open: OpenEvent | undefined;
  /** Version of the search parameters, which the server accepts or refuses. */
  readonly version: string | undefined;
  /** How the open event's data is shown, where it was chosen. */
  readonly view: PayloadView | undefined;
  /** Which events around the open one are shown, where it was chosen. */
  readonly around?: Surrounding | undefined;
  /** The columns of the list; undefined are the usual ones. */
  readonly columns: readonly Column[] | undefined;
  readonly density: Density | undefined;
  /** The field by whose values the histogram is split. */
  readonly split: Field | undefined;
  /** The zone of every time shown, as the URL names it; undefined is UTC. */
  readonly zone: string | undefined;
  /** The saved search that was opened here, as `number@version`. */
  readonly saved?: string | undefined;
  /** Parameters that mean nothing here, kept so that the page can say so. */
  readonly unknown: Params;
}

/** The search of a page without parameters. */
export const emptySearch: Search = {
  query: "",
  filters: [],
  from: undefined,
  until: undefined,
  arrivedFrom: undefined,
  arrivedUntil: undefined,
  open: undefined,
  version: undefined,
  view: undefined,
  columns: undefined,
  density: undefined,
  split: undefined,
  zone: undefined,
  unknown: {},
};

/** The facet fields of an installation that configures none of its own. */
export const usualFacets: readonly Field[] = ["device", "room", "person", "tag"];

const single = [
  ...["from", "until", "arrivedFrom", "arrivedUntil", "event", "time", "zone", "v", "view", "around"],
  ...["cols", "density", "split", "saved"],
];
const known = new Set([...single, "q", "q!", "off", "pin"]);

/** Each once, in their order; a parameter that is present but empty is absent. */
function valuesOf(params: Params, name: string): string[] {
  return [...new Set(params[name]?.filter((value) => value !== ""))];
}

/** `name=value`, whose name may have a quoted `=` in it. */
function splitPair(pair: string): { name: string; value: string } | undefined {
  const [name = "", ...rest] = splitOutsideQuotes(pair, "=");
  const value = pair.slice(name.length + 1);
  return name === "" || rest.length === 0 || value === "" ? undefined : { name, value };
}

function filtersOf(params: Params, names: readonly string[]): readonly Filter[] {
  const pins = new Set(params.pin);
  const filters: Filter[] = [];
  const add = (name: string, values: readonly string[], disabled: boolean) => {
    const found = name === "q!" ? values.map(fromExcludedQuery) : [{ ...namedFilter(name), values }];
    for (const filter of found) {
      const isPinned = pins.has(filter.field === "q" ? `q!=${filter.values[0]}` : filterName(filter));
      filters.push({ ...filter, ...(disabled && { disabled }), ...(isPinned && { pinned: true }) });
    }
  };
  for (const name of names) {
    const values = valuesOf(params, name);
    if (values.length > 0) add(name, values, false);
  }
  const off = new Map<string, string[]>();
  for (const pair of valuesOf(params, "off")) {
    const named = splitPair(pair);
    if (named) off.set(named.name, [...(off.get(named.name) ?? []), named.value]);
  }
  for (const [name, values] of off) add(name, values, true);
  return sortFilters(filters);
}

function columnsOf(text: string | undefined): readonly Column[] | undefined {
  if (!text) return undefined;
  const columns: Column[] = [];
  for (const part of splitOutsideQuotes(text, ",")) {
    const [field = "", size = ""] = splitOutsideQuotes(part, ":");
    if (field === "" || columns.some((column) => column.field === field)) continue;
    columns.push(/^\d{1,4}$/.test(size) ? { field, width: Number(size) } : { field });
  }
  return columns.length === 0 ? undefined : columns;
}

/** Several queries are alternatives. */
function queryOf(params: Params): string {
  const queries = valuesOf(params, "q");
  return queries.length > 1 ? queries.map((query) => `(${query})`).join(" OR ") : (queries[0] ?? "");
}

/** `facets` are the installation's facet fields, whose names are parameters. */
export function readSearch(params: Params, facets: readonly Field[] = usualFacets): Search {
  const named = new Set<string>([...fields, ...facets]);
  const isFilter = (key: string) => {
    const { field, exact } = namedFilter(key);
    if (key === "q!") return true;
    return !exact && (named.has(field) || (isPathField(field) && field !== "ext."));
  };
  const one = (name: string) => params[name]?.[0] || undefined;
  const name = one("event");
  const keys = Object.keys(params);
  return {
    query: queryOf(params),
    filters: filtersOf(params, keys.filter(isFilter)),
    from: one("from"),
    until: one("until"),
    arrivedFrom: one("arrivedFrom"),
    arrivedUntil: one("arrivedUntil"),
    open: name ? { name: nameInPath(name), time: one("time") } : undefined,
    version: one("v"),
    view: readView(params),
    around: readSurrounding(params),
    columns: columnsOf(one("cols")),
    density: densities.find((density) => density === one("density")),
    split: one("split"),
    zone: one("zone"),
    saved: one("saved"),
    unknown: Object.fromEntries(Object.entries(params).filter(([key]) => !known.has(key) && !isFilter(key))),
  };
}

/** A filter as the API says it. */
function parameter(filter: Filter): { name: string; values: readonly string[] } {
  if (isQueried(filter)) return { name: "q!", values: [asExcludedQuery(filter)] };
  return { name: filterName(filter), values: filter.values };
}

function filterParams(filters: readonly Filter[]): Record<string, string[]> {
  const params: Record<string, string[]> = {};
  for (const filter of enabled(filters)) {
    const { name, values } = parameter(filter);
    params[name] = [...new Set([...(params[name] ?? []), ...values])];
  }
  return params;
}

/** The page's own parameters, beside those of the filter. */
export function writeSearch(search: Search): Params {
  const { from, until, arrivedFrom, arrivedUntil, density, split, zone, saved } = search;
  const off = search.filters.filter((filter) => filter.disabled);
  const pins = pinned(search.filters);
  const params: Record<string, readonly string[]> = {
    ...(search.query !== "" && { q: [search.query] }),
    ...filterParams(search.filters),
  };
  if (off.length > 0) {
    params.off = off.flatMap((filter) => filter.values.map((value) => `${filterName(filter)}=${value}`));
  }
  if (pins.length > 0) {
    params.pin = [
      ...new Set(pins.map((pin) => (pin.field === "q" ? `q!=${pin.values[0]}` : filterName(pin)))),
    ];
  }
  for (const [name, value] of Object.entries({ from, until, arrivedFrom, arrivedUntil })) {
    if (value) params[name] = [value];
  }
  if (search.version) params.v = [search.version];
  if (search.columns) {
    params.cols = [
      search.columns.map(({ field, width }) => (width === undefined ? field : `${field}:${width}`)).join(","),
    ];
  }
  for (const [name, value] of Object.entries({ density, split, zone, saved })) {
    if (value) params[name] = [value];
  }
  if (search.open) {
    params.event = [search.open.name];
    if (search.open.time) params.time = [search.open.time];
    if (search.view) params.view = [search.view];
    if (search.around) params.around = [search.around];
  }
  return { ...params, ...search.unknown };
}

/** What decides which events are found, beside the window of time. */
export type Asked = Pick<Search, "query" | "filters"> & Partial<Pick<Search, "version">>;

/** The filter as the API's parameters; two searches with equal ones find the same. */
export function listParams({ query, filters, version }: Asked): ListEventsParams {
  return {
    ...(version && { v: version }),
    ...(query.trim() !== "" && { q: [query] }),
    ...filterParams(filters),
  };
}

/** The window as the API's parameters, which a snapshot freezes. */
export function windowParams({
  from,
  until,
  arrivedFrom,
  arrivedUntil,
}: Partial<Pick<Search, "from" | "until" | "arrivedFrom" | "arrivedUntil">>): CreateSnapshotParams {
  return {
    ...(from && { from }),
    ...(until && { until }),
    ...(arrivedFrom && { arrivedFrom }),
    ...(arrivedUntil && { arrivedUntil }),
  };
}

/** The query and the filters in force as one query of the language, to be read and shared. */
export function wholeQuery({ query, filters }: Pick<Search, "query" | "filters">): string {
  const parts = enabled(filters).map(asQuery);
  const words = query.trim();
  if (words !== "") parts.unshift(parts.length > 0 && / OR /.test(words) ? `(${words})` : words);
  return parts.join(" ");
}
