/** The address that shows to others what a page shows. */
import { formatQuery, type Params, type Search, writeSearch } from "#/lib/search.ts";
import { relative } from "#/lib/time.ts";
import { askedParams } from "../saved/saved.ts";

/** Longer addresses are cut by mail programs, chats and proxies. */
export const longestLink = 2000;

export interface Window {
  readonly from: string;
  readonly until: string;
}

/** Whether the window moves on with the clock. */
export function rolls({ from, until }: Pick<Search, "from" | "until">): boolean {
  return (
    from === undefined || relative(from) !== undefined || until === undefined || relative(until) !== undefined
  );
}

/** The window as dates: what it was when it was searched, up to then where it has no end. */
export function datesOf(
  snapshot: { readonly from: string; readonly until?: string | undefined } | undefined,
  takenAt: string | undefined,
): Window | undefined {
  const until = snapshot?.until ?? takenAt;
  return snapshot && until ? { from: snapshot.from, until } : undefined;
}

/** What is shared: all but the saved search, which is the sharer's alone. */
export function shared(search: Search, window: Window | undefined): Search {
  const { saved: _, ...rest } = search;
  return { ...rest, ...window };
}

export function linkOf(search: Search, page: string): string {
  return `${page}${formatQuery(writeSearch(search))}`;
}

/** What a short link cannot keep, as its own parameters: all but the filter and the window. */
export function besideFilter(search: Search): Params {
  const asked = askedParams(search);
  return Object.fromEntries(
    Object.entries(writeSearch(search)).filter(([name]) => !Object.hasOwn(asked, name)),
  );
}

/** The filter and the window as a short link keeps them. */
export function filterText(search: Search): string {
  return formatQuery(askedParams(search)).slice(1);
}
