/** Finding a text in the rows that are loaded, also in those that are not rendered. */
import type { Event } from "#/api/oriel.gen.ts";
import type { Column } from "#/lib/search.ts";
import type { Slices } from "#/lib/slices.ts";
import { summarise } from "#/lib/summary.ts";
import { cellOf, copied, type FarCells } from "./cells.ts";

/** As words are compared: without case and accents. */
export function folded(text: string): string {
  return text
    .normalize("NFD")
    .replace(/\p{Mn}+/gu, "")
    .toLowerCase();
}

/** Rows looked at between two pauses. */
const rowsAtOnce = 50;

/** The indexes of the events that have the text in one of their columns, in their order. */
export function* findRows(
  events: readonly Event[],
  columns: readonly Column[],
  far: FarCells,
  text: string,
): Slices<readonly number[]> {
  const wanted = folded(text.trim());
  const found: number[] = [];
  if (wanted === "") return found;
  for (const [index, event] of events.entries()) {
    if (index % rowsAtOnce === rowsAtOnce - 1) yield;
    const has = columns.some(({ field }) => {
      const value = field === "summary" ? summaryText(event) : copied(cellOf(event, field, far));
      return value !== undefined && folded(value).includes(wanted);
    });
    if (has) found.push(index);
  }
  return found;
}

/** The summary as the row shows it. */
function summaryText(event: Event): string {
  const { badge, parts } = summarise(event);
  return [badge ?? "", ...parts.map(({ text }) => text)].join(" ");
}

/** The match after (or before) a row, going round at the ends; undefined where there is none. */
export function nextMatch(matches: readonly number[], cursor: number, by: 1 | -1): number | undefined {
  if (by === 1) return matches.find((index) => index > cursor) ?? matches[0];
  return matches.findLast((index) => index < cursor) ?? matches.at(-1);
}
