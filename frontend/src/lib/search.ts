/**
 * What an explorer page shows, as its URL says it. The filter parameters are the API's own
 * (`type`, `type!`, …), so a page's URL and the request behind it read alike.
 */
import type { ListEventsParams } from "#/api/oriel.gen.ts";

/** Query parameters in order of first occurrence, each with all of its values. */
export type Params = Readonly<Record<string, readonly string[]>>;

export function parseQuery(query: string): Params {
  const params: Record<string, string[]> = {};
  for (const [key, value] of new URLSearchParams(query)) {
    // A parameter of this name would meet Object.prototype.
    if (key === "__proto__") continue;
    const values = Object.hasOwn(params, key) ? params[key] : undefined;
    if (values) values.push(value);
    else params[key] = [value];
  }
  return params;
}

/** Percent-encodes what a query must not hold, and leaves readable what it may. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/%(2F|3A|2C|40)/g, (match) =>
    decodeURIComponent(match),
  );
}

export function formatQuery(params: Readonly<Record<string, unknown>>): string {
  const parts: string[] = [];
  for (const [key, values] of Object.entries(params)) {
    if (!Array.isArray(values)) continue;
    for (const value of values) {
      // Of what is merely there, such as `?new`.
      parts.push(value === "" ? encode(key) : `${encode(key)}=${encode(String(value))}`);
    }
  }
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}

export const fields = ["type", "source", "subject", "severity"] as const;
export type Field = (typeof fields)[number];
/** What a chip can stand for; words are excluded by `q!`. */
export type ChipField = Field | "q";

export interface Filter {
  readonly field: ChipField;
  readonly negated: boolean;
  readonly values: readonly string[];
}

export interface OpenEvent {
  /** `{source}:{id}`, escaped as the API escapes it. */
  readonly name: string;
  readonly time: string | undefined;
}

export const payloadViews = ["pretty", "raw"] as const;
export type PayloadView = (typeof payloadViews)[number];

export function readView(params: Params): PayloadView | undefined {
  return payloadViews.find((view) => view === params.view?.[0]);
}

export interface Search {
  readonly query: string;
  readonly filters: readonly Filter[];
  /** As written in the URL: RFC 3339 or relative; undefined is the server's default, a day. */
  readonly from: string | undefined;
  readonly until: string | undefined;
  readonly open: OpenEvent | undefined;
  /** Version of the search parameters, which the server accepts or refuses. */
  readonly version: string | undefined;
  /** How the open event's data is shown, where it was chosen. */
  readonly view: PayloadView | undefined;
  /** Parameters that mean nothing here, kept so that the page can say so. */
  readonly unknown: Params;
}

const known = new Set([
  "q",
  "q!",
  "from",
  "until",
  "event",
  "time",
  "zone",
  "v",
  "view",
  ...fields.flatMap((field) => [field, `${field}!`]),
]);

function filterOf(field: ChipField, negated: boolean, params: Params): Filter[] {
  const values = [...new Set(params[negated ? `${field}!` : field]?.filter((value) => value !== ""))];
  return values.length === 0 ? [] : [{ field, negated, values }];
}

export function readSearch(params: Params): Search {
  const name = params.event?.[0];
  return {
    query: (params.q ?? []).join(" "),
    filters: [
      ...fields.flatMap((field) => [...filterOf(field, false, params), ...filterOf(field, true, params)]),
      ...filterOf("q", true, params),
    ],
    from: params.from?.[0] || undefined,
    until: params.until?.[0] || undefined,
    open: name ? { name, time: params.time?.[0] || undefined } : undefined,
    version: params.v?.[0] || undefined,
    view: readView(params),
    unknown: Object.fromEntries(Object.entries(params).filter(([key]) => !known.has(key))),
  };
}

export function writeSearch(search: Search, zone: readonly string[] | undefined): Params {
  const params: Record<string, readonly string[]> = {};
  if (search.query !== "") params.q = [search.query];
  for (const { field, negated, values } of search.filters) params[negated ? `${field}!` : field] = values;
  if (search.from) params.from = [search.from];
  if (search.until) params.until = [search.until];
  if (search.version) params.v = [search.version];
  if (zone) params.zone = zone;
  if (search.open) {
    params.event = [search.open.name];
    if (search.open.time) params.time = [search.open.time];
    if (search.view) params.view = [search.view];
  }
  return { ...params, ...search.unknown };
}

/** The filter as the API's parameters; two searches with equal ones find the same. */
export function listParams({
  query,
  filters,
  version,
}: Pick<Search, "query" | "filters"> & Partial<Pick<Search, "version">>): ListEventsParams {
  const params: Record<string, string | string[]> = {};
  if (version) params.v = version;
  if (query.trim() !== "") params.q = [query];
  for (const { field, negated, values } of filters) params[negated ? `${field}!` : field] = [...values];
  return params;
}

/** What a person can do with a value. */
export type ValueAction = "include" | "exclude" | "only";

/** The filters after an action on a value. */
export function applyAction(
  filters: readonly Filter[],
  field: Field,
  value: string,
  action: ValueAction,
): Filter[] {
  const negated = action === "exclude";
  // The value itself leaves the other side; severities are thresholds, of which one is enough.
  const others = filters
    .map((filter) => {
      if (filter.field !== field) return filter;
      if (action === "only") return { ...filter, values: [] };
      if (field === "severity") return { ...filter, values: filter.negated === negated ? [] : filter.values };
      return { ...filter, values: filter.values.filter((other) => other !== value) };
    })
    .filter((filter) => filter.values.length > 0);
  const same = others.find((filter) => filter.field === field && filter.negated === negated);
  if (!same) return sortFilters([...others, { field, negated, values: [value] }]);
  return others.map((filter) =>
    filter === same ? { ...filter, values: [...filter.values, value] } : filter,
  );
}

/** Puts one filter in the place of another (or none); filters of one field and sense merge. */
export function replaceFilter(
  filters: readonly Filter[],
  old: Filter | undefined,
  next: Filter | undefined,
): Filter[] {
  const rest = filters.filter((filter) => filter !== old);
  if (!next || next.values.length === 0) return rest;
  const same = rest.find((filter) => filter.field === next.field && filter.negated === next.negated);
  if (!same) return sortFilters([...rest, next]);
  const values = next.field === "severity" ? next.values : [...new Set([...same.values, ...next.values])];
  return rest.map((filter) => (filter === same ? { ...next, values } : filter));
}

/** The order in which the URL reads back, so that a chip never jumps when the page reloads. */
function sortFilters(filters: readonly Filter[]): Filter[] {
  const order: readonly ChipField[] = [...fields, "q"];
  return filters.toSorted(
    (a, b) => order.indexOf(a.field) - order.indexOf(b.field) || Number(a.negated) - Number(b.negated),
  );
}
