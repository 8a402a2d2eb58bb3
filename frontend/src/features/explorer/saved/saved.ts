/** What of a search is saved, what opening one shows, and whether it was edited since. */
import type { SavedSearch } from "#/api/oriel.gen.ts";
import {
  type Field,
  type Filter,
  filterName,
  formatQuery,
  listParams,
  type Params,
  parseQuery,
  pinned,
  readSearch,
  type Search,
  sortFilters,
  windowParams,
  writeSearch,
} from "#/lib/search.ts";

/** What the page keeps beside the filter. The zone is the reader's own. */
const kept = ["cols", "density", "split", "off", "pin"] as const;

/** The saved search that a page's address says was opened, and the version that was seen. */
export interface Opened {
  readonly number: string;
  readonly version: number;
}

export function readOpened(text: string | undefined): Opened | undefined {
  const [, number = "", version = ""] = /^([1-9]\d{0,17})@([1-9]\d{0,9})$/.exec(text ?? "") ?? [];
  return number === "" ? undefined : { number, version: Number(version) };
}

export function numberOf({ name }: Pick<SavedSearch, "name">): string {
  return name.slice(name.indexOf("/") + 1);
}

export function openedText(saved: Pick<SavedSearch, "name" | "version">): string {
  return `${numberOf(saved)}@${saved.version}`;
}

/** The filter and the window as the API's parameters. */
export function askedParams(search: Search): Params {
  const asked: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries({ ...listParams(search), ...windowParams(search) })) {
    if (name !== "v") asked[name] = Array.isArray(value) ? value.map(String) : [String(value)];
  }
  return asked;
}

function viewParams(search: Search): Params {
  const all = writeSearch(search);
  const view: Record<string, readonly string[]> = {};
  for (const name of kept) {
    const values = all[name];
    if (values) view[name] = values;
  }
  return view;
}

export function toSave(search: Search): { readonly params: string; readonly view: string } {
  const view = { ...viewParams(search), written: [markOf(search)] };
  return { params: formatQuery(askedParams(search)).slice(1), view: JSON.stringify(view) };
}

/**
 * Tells one spelling of a search from others: the server keeps its own, and the page goes on with what was
 * written. Two spellings of one mark would merely not be told apart.
 */
function markOf(search: Search): string {
  let mark = 0xcbf29ce484222325n;
  for (const char of told(search)) {
    mark = BigInt.asUintN(64, (mark ^ BigInt(char.codePointAt(0) ?? 0)) * 0x100000001b3n);
  }
  return mark.toString(36);
}

/** A view as another page, or an older one, may have written it. */
function readKept(view: string, names: readonly string[] = kept): Params {
  let stored: unknown;
  try {
    stored = JSON.parse(view || "{}");
  } catch {
    return {};
  }
  if (typeof stored !== "object" || stored === null) return {};
  const values: Record<string, readonly string[]> = {};
  for (const name of names) {
    const value: unknown = Object.getOwnPropertyDescriptor(stored, name)?.value;
    if (Array.isArray(value)) values[name] = value.filter((text) => typeof text === "string");
  }
  return values;
}

/** What opening a saved search shows: the pinned filters and the zone of the page stay. */
export function openSaved(
  saved: Pick<SavedSearch, "name" | "version" | "params" | "view">,
  current: Pick<Search, "filters" | "zone">,
  facets: readonly Field[],
): Search {
  const base = readSearch({ ...parseQuery(saved.params), ...readKept(saved.view) }, facets);
  const pins = pinned(current.filters);
  const same = (a: Filter, b: Filter) =>
    filterName(a) === filterName(b) && (a.field !== "q" || a.values[0] === b.values[0]);
  const others = base.filters.filter((filter) => !pins.some((pin) => same(pin, filter)));
  return {
    ...base,
    filters: sortFilters([...others, ...pins]),
    zone: current.zone,
    saved: openedText(saved),
  };
}

/** Two searches of one text find and show the same. */
function told(search: Search): string {
  const params = { ...askedParams(search), ...viewParams(search) };
  const sorted = Object.entries(params).map(([name, values]): [string, string[]] => [
    name,
    values.map((value) => value.trim()).toSorted(),
  ]);
  return JSON.stringify(sorted.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether the page shows something else than opening the saved search would. */
export function isEdited(search: Search, saved: SavedSearch, facets: readonly Field[]): boolean {
  const written = readKept(saved.view, ["written"]).written?.[0];
  const same = search.saved === openedText(saved) && written === markOf(search);
  return !same && told(search) !== told(openSaved(saved, search, facets));
}
