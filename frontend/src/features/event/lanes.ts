/** Where events around one stand on a line of time: no drawing, no requests. */
import type { Event } from "#/api/oriel.gen.ts";
import type { Surrounding } from "#/lib/search.ts";

export interface Lane {
  /** What the events of the lane have in common; undefined of those that found none of their own. */
  readonly label: string | undefined;
  readonly marks: readonly Mark[];
}

export interface Mark {
  readonly event: Event;
  readonly anchor: boolean;
  /** Between 0 and 1; the event itself is in the middle. */
  readonly at: number;
}

export interface Lanes {
  readonly lanes: readonly Lane[];
  /** Milliseconds from the middle to either end. */
  readonly span: number;
}

const most = 5;
const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const spans = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 20, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 20, 30].map((n) => n * minute),
  ...[1, 2, 4, 6, 12].map((n) => n * hour),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => n * day),
];

/** The shortest round length that reaches as far. */
function spanOf(distance: number): number {
  return spans.find((span) => span >= distance) ?? Math.ceil(distance / day) * day;
}

/** `500 ms`, `2.5 min` */
export function spanText(ms: number): string {
  if (ms < second) return `${ms} ms`;
  if (ms < minute) return `${ms / second} s`;
  if (ms < hour) return `${ms / minute} min`;
  return ms < day ? `${ms / hour} h` : `${ms / day} d`;
}

/** A lane for each source, or, of events of one source, for each type; the event's own is the first. */
export function lanesOf(anchor: Event, others: readonly Event[], by: Surrounding): Lanes {
  const middle = Date.parse(anchor.occurredAt);
  const span = spanOf(Math.max(...others.map((event) => Math.abs(Date.parse(event.occurredAt) - middle)), 1));
  const labelOf = (event: Event) => (by === "source" ? event.type : event.source);
  const marks = new Map<string, Mark[]>();
  for (const event of [anchor, ...others]) {
    const at = 0.5 + (Date.parse(event.occurredAt) - middle) / (2 * span);
    const mark = { event, anchor: event === anchor, at };
    const lane = marks.get(labelOf(event));
    if (lane) lane.push(mark);
    else marks.set(labelOf(event), [mark]);
  }
  const own = labelOf(anchor);
  const sorted = [...marks].toSorted(
    ([a, some], [b, more]) => Number(b === own) - Number(a === own) || more.length - some.length,
  );
  const cut = sorted.length > most ? most - 1 : most;
  const lanes: Lane[] = sorted.slice(0, cut).map(([label, lane]) => ({ label, marks: lane }));
  const rest = sorted.slice(cut).flatMap(([, lane]) => lane);
  if (rest.length > 0) lanes.push({ label: undefined, marks: rest });
  return { lanes, span };
}
