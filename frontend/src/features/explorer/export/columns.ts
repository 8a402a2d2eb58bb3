/** The columns of a CSV. */

import { splitOutsideQuotes } from "#/lib/language.ts";
import type { Column } from "#/lib/search.ts";

export const usualColumns = ["time", "type", "source", "subject", "id", "severity", "data"] as const;
export const mostColumns = 50;

/** Those that the list shows, where they were chosen. Its summary is made of the data. */
export function columnsOf(columns: readonly Column[] | undefined): string {
  const chosen = columns?.map(({ field }) => (field === "summary" ? "data" : field)) ?? usualColumns;
  return [...new Set(chosen)].join(", ");
}

export function readColumns(text: string): readonly string[] {
  const names = splitOutsideQuotes(text, ",").map((name) => name.trim());
  return [...new Set(names.filter((name) => name !== ""))];
}

export function faultOf(columns: readonly string[]): string | undefined {
  if (columns.length === 0) return "At least one column is needed.";
  return columns.length > mostColumns
    ? `${columns.length} columns are too many: at most ${mostColumns}.`
    : undefined;
}
