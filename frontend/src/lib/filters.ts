/** The filters of a search, each shown as a chip, and what actions on values make of them. */
import {
  anyOf,
  type Field,
  hasNoParameter,
  isPathField,
  isWritten,
  quoted,
  readValue,
  splitOutsideQuotes,
  typed,
  type Value,
  writtenValue,
} from "./language.ts";
import { andWorse, isSeverity, severities } from "./severity.ts";

/** The attributes that every list shows. */
export const fields = ["type", "source", "subject", "severity"] as const;
export type UsualField = (typeof fields)[number];
/** What a chip can stand for; words are excluded by `q!`. */
export type ChipField = Field | "q";

export interface Filter {
  readonly field: ChipField;
  readonly negated: boolean;
  /**
   * Plain text of attributes, facets and severity; of `ext.`, `data.` and attributes that are no
   * parameters as the language writes them, `*` standing for any value.
   */
  readonly values: readonly string[];
  /** Of severities: these alone. Without it they are thresholds, and reach to the worst. */
  readonly exact?: true;
  /** It stays in its place and filters nothing. */
  readonly disabled?: boolean;
  /** It stays as the others are cleared and another search is opened. */
  readonly pinned?: boolean;
}

/** As the API's parameter is called; where it has none, a name of its own. */
export function filterName({ field, negated, exact }: Pick<Filter, "field" | "negated" | "exact">): string {
  return `${field}${exact ? ":" : ""}${negated ? "!" : ""}`;
}

/** The field of a filter by its name, and its sense. */
export function namedFilter(name: string): Pick<Filter, "field" | "negated" | "exact"> {
  const [, field = "", colon, bang] = /^(.*?)(:?)(!?)$/su.exec(name) ?? [];
  const exact = field === "severity" && colon === ":";
  return { field: exact ? field : `${field}${colon}`, negated: bang === "!", ...(exact && { exact }) };
}

/** No parameter says it: it is a condition of `q!`. */
export function isQueried({ field, exact }: Filter): boolean {
  return exact === true || hasNoParameter(field);
}

export function enabled(filters: readonly Filter[]): readonly Filter[] {
  return filters.filter((filter) => !filter.disabled);
}

/** What is left as all filters are cleared. */
export function pinned(filters: readonly Filter[]): readonly Filter[] {
  return filters.filter((filter) => filter.pinned);
}

/** A filter that is `q!` in a URL: of one query, as queries there are alternatives to none. */
export function asExcludedQuery({ field, negated, values }: Filter): string {
  return `${negated ? "" : "-"}${anyOf(
    field,
    values.map((value) => rewritten(field, value)),
  )}`;
}

/** A parameter may hold spaces without quotes, which a query cannot. */
function rewritten(field: Field, written: string): string {
  const value = readValue(written);
  if (!value.prefix) return writtenValue(field, value);
  return `${/^"/.test(written) ? quoted(value.text) : writtenValue("", value.text)}*`;
}

const bareField = /^(-?)([a-z]+):(.+)$/su;

/** A query of `q!` as a filter: one that no parameter says, where it is written as such. */
export function fromExcludedQuery(query: string): Filter {
  const [, minus, field = "", list = ""] = bareField.exec(query) ?? [];
  const exact = field === "severity";
  if (exact || hasNoParameter(field)) {
    const inner = list.startsWith("(") && list.endsWith(")") ? list.slice(1, -1) : list;
    const values = splitOutsideQuotes(inner, " OR ");
    const filter: Filter = { field, negated: minus === "", values, ...(exact && { exact }) };
    const spelled = `${minus}${anyOf(field, filter.values)}`;
    if (spelled === query && values.every(exact ? isSeverity : isBare)) return filter;
  }
  return { field: "q", negated: true, values: [query] };
}

function isBare(value: string): boolean {
  return value !== "" && !/^[(-]/.test(value);
}

/** Whether a filter on words asks that a field is absent (or there): no parameter of its name can. */
export function presenceOf(filter: Filter): { readonly field: Field; readonly absent: boolean } | undefined {
  if (filter.field !== "q") {
    const one = isWritten(filter.field) && filter.values.length === 1 && filter.values[0] === "*";
    return one ? { field: filter.field, absent: filter.negated } : undefined;
  }
  const [, minus, field = ""] = /^(-?)([a-z][a-z0-9_-]*):\*$/.exec(filter.values[0] ?? "") ?? [];
  if (field === "" || filter.values.length !== 1) return undefined;
  return { field, absent: (minus === "") === filter.negated };
}

/** How a condition of the language compares a field with a value. */
export const comparisons = [">=", ">", "<=", "<", "~"] as const;
export type Comparison = (typeof comparisons)[number];

/** What a filter compares: no parameter does, so it is a condition of `q!`. */
export interface Compared {
  readonly field: Field;
  readonly comparison: Comparison;
  /** As the language writes it. */
  readonly written: string;
  readonly negated: boolean;
}

/** A filter on how a field compares: with a number, or `~` with a part of its text. */
export function comparing(field: Field, comparison: Comparison, text: string, negated: boolean): Filter {
  const query = `${field}${comparison}${comparison === "~" ? quoted(text) : text}`;
  return { field: "q", negated: true, values: [negated ? query : opposite(query)] };
}

const comparesField = /^(-?)([a-z](?:"(?:[^"\\]|\\.)*"|[^"\s()<>=~:])*)([<>]=?|~)(.+)$/su;

/** The comparison that a filter on words is, if it is one and nothing else. */
export function comparisonOf(filter: Filter): Compared | undefined {
  const [query = ""] = filter.values;
  if (filter.field !== "q" || filter.values.length !== 1 || !filter.negated) return undefined;
  const [, minus, field = "", sign, written = ""] = comparesField.exec(query) ?? [];
  const comparison = comparisons.find((one) => one === sign);
  if (!comparison || field === "severity") return undefined;
  const one = comparison === "~" ? /^"(?:[^"\\]|\\[\s\S])*"$/.test(written) : /^-?[\d.eE+-]+$/.test(written);
  return one ? { field, comparison, written, negated: minus === "" } : undefined;
}

/** A filter in the query language. */
export function asQuery({ field, negated, values, exact }: Filter): string {
  const not = negated ? "-" : "";
  if (field === "q") return values.map((value) => `${not}(${value})`).join(" ");
  if (field === "severity" && !exact) return `${not}severity>=${values[0] ?? ""}`;
  const written = values.map((value) =>
    isWritten(field) ? rewritten(field, value) : writtenValue(field, value),
  );
  // An event can have several tags, and a filter asks for all of them.
  if (field === "tag" && !negated) return written.map((value) => `tag:${value}`).join(" ");
  return not + anyOf(field, written);
}

/** What a person can do with a value; of a severity also to make it the least. */
export type ValueAction = "include" | "exclude" | "only" | "least";

/** The filter that finds events with this value (or, excluding, those without it). */
export function filterOn(field: Field, value: Value, exclude: boolean): Filter {
  const { kind, text } = typed(value);
  const absent = kind === "absent";
  // Parameters of these take no star and no empty value.
  if (!isWritten(field) && (absent || kind === "empty")) {
    const query = absent ? `${field}:*` : `-${field}:""`;
    return { field: "q", negated: true, values: [exclude ? opposite(query) : query] };
  }
  const negated = absent ? !exclude : exclude;
  const values = [isWritten(field) ? writtenValue(field, value) : text];
  return { field, negated, values, ...(field === "severity" && { exact: true }) };
}

/** The field that a filter is about, also where it is written as a query. */
export function subjectOf(filter: Filter): ChipField {
  if (filter.field !== "q") return filter.field;
  return /^-?([a-z][a-z0-9_-]*):(?:\*|"")$/.exec(filter.values[0] ?? "")?.[1] ?? "q";
}

/**
 * The filters after an action on a value: it is found (or not found) by them, as far as this field
 * is concerned. Disabled ones stay as they are.
 */
export function applyAction(
  filters: readonly Filter[],
  field: Field,
  value: Value,
  action: ValueAction,
): Filter[] {
  const next = filterOf(filters, field, value, action);
  const others = filters
    .map((filter) => {
      if (subjectOf(filter) !== field || filter.disabled) return filter;
      if (action === "only" || action === "least") return { ...filter, values: [] };
      return { ...filter, values: kept(filter, next, action) };
    })
    .filter((filter) => filter.values.length > 0);
  // Where values are asked for, none of them is absent already.
  const settled = !next.negated && next.values[0] === "*" && others.some((filter) => same(filter, next));
  return settled && isWritten(field) ? others : merged(others, next);
}

/** What the action asks for: beside a threshold that it widens, what that reaches to. */
function filterOf(filters: readonly Filter[], field: Field, value: Value, action: ValueAction): Filter {
  const next = filterOn(field, value, action === "exclude");
  if (!next.exact) return next;
  if (action === "least") return { field, negated: false, values: next.values };
  const threshold =
    action === "include" && enabled(filters).find((filter) => isThreshold(filter) && !filter.negated);
  if (!threshold) return next;
  const levels = new Set([...threshold.values.flatMap(andWorse), ...next.values]);
  return { ...next, values: severities.filter((level) => levels.has(level)) };
}

/** The values of a filter on the same field that go together with a new one. */
function kept(filter: Filter, next: Filter, action: ValueAction): readonly string[] {
  if (filter.field === "q") return keptQuery(filter, next, action);
  if (next.field === "q") return action === "include" && !filter.negated ? [] : filter.values;
  const sameSense = filter.negated === next.negated;
  const [wanted = ""] = next.values;
  if (next.field === "severity" && !filter.exact) return keptThreshold(filter, next);
  if (!isWritten(next.field)) return sameSense ? filter.values : without(filter.values, wanted);
  if (wanted === "*" && next.negated && !sameSense) return [];
  const values = action === "include" && wanted !== "*" ? without(filter.values, "*") : filter.values;
  return sameSense ? values : without(values, wanted);
}

/** Of a threshold beside levels that are asked for or kept out. */
function keptThreshold({ negated, values }: Filter, next: Filter): readonly string[] {
  if (next.negated) return values;
  if (!negated) return [];
  const out = values.flatMap(andWorse);
  return next.values.some((level) => isSeverity(level) && out.includes(level)) ? [] : values;
}

/** Of a filter that asks for no value, or for the empty one. */
function keptQuery(filter: Filter, next: Filter, action: ValueAction): readonly string[] {
  const [query = ""] = filter.values;
  const asksQuery = next.field === "q";
  if (action === "exclude") return asksQuery && query === opposite(next.values[0] ?? "") ? [] : filter.values;
  const barren = query.startsWith("-") ? query.endsWith('""') : query.endsWith("*");
  return asksQuery || barren ? [] : filter.values;
}

function without(values: readonly string[], value: string): readonly string[] {
  return values.filter((other) => other !== value);
}

/** Whether a minus before it would be before all of it. */
function isOne(query: string): boolean {
  if (/^(?:[^\s"()]|"(?:[^"\\]|\\[\s\S])*")+$/.test(query)) return true;
  return query.startsWith("(") && groupEnd(query) === query.length - 1;
}

/** Where the parenthesis closes that a query begins with. */
function groupEnd(query: string): number {
  let depth = 0;
  for (const match of query.matchAll(/"(?:[^"\\]|\\[\s\S])*"|[()]/g)) {
    if (match[0] === "(") depth++;
    if (match[0] === ")") depth--;
    if (depth === 0) return match.index;
  }
  return -1;
}

/** The query that holds where this one does not. */
export function opposite(query: string): string {
  const rest = query.slice(1);
  if (query.startsWith("-") && isOne(rest)) return rest.startsWith("(") ? rest.slice(1, -1) : rest;
  return isOne(query) && !query.startsWith("-") ? `-${query}` : `-(${query})`;
}

/** The filter the other way round. */
export function negated(filter: Filter): Filter {
  if (filter.field !== "q") return { ...filter, negated: !filter.negated };
  // Queries are excluded: the opposite of one is excluded instead.
  return { ...filter, values: filter.values.map(opposite) };
}

function same(a: Filter, b: Filter): boolean {
  return (
    a.field === b.field &&
    a.negated === b.negated &&
    a.exact === b.exact &&
    Boolean(a.disabled) === Boolean(b.disabled) &&
    // Of excluded words each is a filter of its own.
    (a.field !== "q" || a.values[0] === b.values[0])
  );
}

/** One of several is enough. */
function isThreshold({ field, exact }: Filter): boolean {
  return field === "severity" && !exact;
}

function merged(filters: readonly Filter[], next: Filter): Filter[] {
  const twin = filters.find((filter) => same(filter, next));
  if (!twin) return sortFilters([...filters, next]);
  const values = isThreshold(next) ? next.values : [...new Set([...twin.values, ...next.values])];
  return filters.map((filter) => (filter === twin ? { ...twin, ...next, values } : filter));
}

/** Puts one filter in the place of another (or none); filters of one field and sense merge. */
export function replaceFilter(
  filters: readonly Filter[],
  old: Filter | undefined,
  next: Filter | undefined,
): Filter[] {
  const rest = filters.filter((filter) => filter !== old);
  if (!next || next.values.length === 0) return rest;
  return merged(rest, next);
}

function rank(field: ChipField): number {
  const index = (fields as readonly string[]).indexOf(field);
  if (index >= 0) return index;
  return field === "q" ? 7 : hasNoParameter(field) ? 6 : isPathField(field) ? 5 : 4;
}

/** The order in which the URL reads back, so that a chip never jumps when the page reloads. */
export function sortFilters(filters: readonly Filter[]): Filter[] {
  const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return filters.toSorted(
    (a, b) =>
      rank(a.field) - rank(b.field) ||
      byName(a.field, b.field) ||
      Number(a.exact ?? false) - Number(b.exact ?? false) ||
      Number(a.negated) - Number(b.negated) ||
      Number(a.disabled ?? false) - Number(b.disabled ?? false),
  );
}
