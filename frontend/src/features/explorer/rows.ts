import type { Event } from "#/api/oriel.gen.ts";
import { dayKey, dayName, dayStart, offsetLabel, turnBetween } from "#/lib/time.ts";

/** What the list shows line by line: events, and a rule wherever the day or the clock's offset changes. */
export type Row =
  | { readonly kind: "event"; readonly index: number }
  | { readonly kind: "day"; readonly label: string }
  | { readonly kind: "end" };

export interface Rows {
  readonly rows: readonly Row[];
  /** The row of the event with an index. */
  readonly rowOf: readonly number[];
}

/** Lays events, newest first, out in rows. The first day has no rule where it is `today`. */
export function layRows(events: readonly Event[], zone: string, today: string): Rows {
  const rows: Row[] = [];
  const rowOf: number[] = [];
  // Days are told apart by their first instant, as asking the zone for every event is slow.
  let start = Number.POSITIVE_INFINITY;
  // When on that day the clock was set to another offset.
  let turn: number | undefined;
  let offset: string | undefined;
  for (const [index, event] of events.entries()) {
    const ms = Date.parse(event.occurredAt);
    if (ms < start) {
      start = dayStart(event.occurredAt, zone);
      turn = turnBetween(start, ms, zone);
      const own = offsetLabel(ms, zone);
      const other = offset === undefined || own === offset ? "" : `, ${own}`;
      if (index > 0 || dayKey(event.occurredAt, zone) !== today)
        rows.push({ kind: "day", label: `${dayName(event.occurredAt, zone)}${other}` });
      offset = own;
    }
    if (turn !== undefined && ms < turn) {
      const [above, below] = [offsetLabel(turn, zone), offsetLabel(ms, zone)];
      rows.push({ kind: "day", label: `The clock was set: ${above} above, ${below} below` });
      turn = undefined;
      offset = below;
    }
    rowOf.push(rows.length);
    rows.push({ kind: "event", index });
  }
  rows.push({ kind: "end" });
  return { rows, rowOf };
}

/** Where each row begins, and last where all of them end. */
export function placeRows(
  rows: readonly Row[],
  top: number,
  eventHeight: number,
  otherHeight: number,
): Float64Array {
  const starts = new Float64Array(rows.length + 1);
  let at = top;
  for (const [index, row] of rows.entries()) {
    starts[index] = at;
    at += row.kind === "event" ? eventHeight : otherHeight;
  }
  starts[rows.length] = at;
  return starts;
}

/** The row at a height: the first above all of them, and the last below. */
export function rowAt(starts: Float64Array, height: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= height) low = middle;
    else high = middle - 1;
  }
  return low;
}
