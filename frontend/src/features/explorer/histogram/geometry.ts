/** Where the bars of a histogram stand and what is written at them. No drawing, no requests. */
import type { Bucket, Histogram } from "#/api/oriel.gen.ts";
import { isSeverity, severities } from "#/lib/severity.ts";

/** One layer of the bars. */
export interface Series {
  /** The value that it counts; undefined where that is no single one and cannot be searched for. */
  readonly value: string | undefined;
  readonly label: string;
  /** A colour of the theme. */
  readonly fill: string;
  readonly hatched: boolean;
  readonly counts: readonly number[];
  readonly total: number;
}

const severityFills: Readonly<Record<string, string>> = {
  trace: "debug-fill",
  debug: "debug-fill",
  info: "info-fill",
  notice: "info-fill",
  warning: "warning-fill",
  error: "error-fill",
  critical: "critical-fill",
  emergency: "critical-fill",
};
const fills = ["accent-fill", "info-fill", "warning-fill", "critical-fill", "debug-fill", "error-fill"];

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

function series(value: string | undefined, label: string, fill: string, counts: readonly number[]): Series {
  const hatched = value === "critical" || value === "emergency";
  return { value, label, fill: `var(--color-${fill})`, hatched, counts, total: sum(counts) };
}

/** The layers from the bottom up. Of severities the worst is on top, of others the most frequent below. */
export function seriesOf(histogram: Histogram): Series[] {
  const { buckets, splitBy, split } = histogram;
  if (splitBy === undefined || split === undefined) {
    const calm = buckets.map((bucket) => bucket.count - bucket.errors);
    const errors = buckets.map((bucket) => bucket.errors);
    return [
      series(undefined, "below error, or none", "info-fill", calm),
      series(undefined, "error and above", "error-fill", errors),
    ].filter(({ total }) => total > 0);
  }
  const bySeverity = splitBy === "severity";
  const named = split.map((value, index) => {
    const fill = bySeverity ? severityFills[value] : fills[index];
    const counts = buckets.map((bucket) => bucket.split?.[index] ?? 0);
    return series(value, value, fill ?? "debug-fill", counts);
  });
  if (bySeverity) {
    const rank = ({ label }: Series) => (isSeverity(label) ? severities.indexOf(label) : -1);
    named.sort((a, b) => rank(b) - rank(a));
  }
  const rest = series(
    undefined,
    bySeverity && split.length < severities.length - 2 ? "none" : "others, or none",
    "line-3",
    buckets.map((bucket) => bucket.rest ?? 0),
  );
  return [rest, ...named].filter(({ total }) => total > 0);
}

/** The tallest bar. */
export function tallest(buckets: readonly Bucket[]): number {
  return buckets.reduce((most, { count }) => Math.max(most, count), 0);
}

export const chartHeight = 50;
/** Units of the drawing that a bucket is wide, and of them the gap before its neighbour. */
export const bucketWidth = 10;
const gap = 2;

/**
 * The bars as one path for each layer, in a drawing of `bucketWidth` units for a bucket. What is there
 * is at least a pixel high, however little it is beside the rest.
 */
export function paths(layers: readonly Series[], buckets: readonly Bucket[]): string[] {
  const most = Math.max(tallest(buckets), 1);
  const out = layers.map(() => "");
  buckets.forEach((_, index) => {
    const heights = layers.map(({ counts }) => {
      const count = counts[index] ?? 0;
      return count === 0 ? 0 : Math.max(1, (count / most) * chartHeight);
    });
    // The thickest layer gives what the thin ones took.
    const over = Math.max(sum(heights) - chartHeight, 0);
    const thickest = heights.indexOf(Math.max(...heights));
    let y = chartHeight;
    heights.forEach((height, layer) => {
      if (height === 0) return;
      const top = Math.max(y - (layer === thickest ? height - over : height), 0);
      const x = index * bucketWidth + gap / 2;
      out[layer] += `M${x} ${round(y)}h${bucketWidth - gap}V${round(top)}h${gap - bucketWidth}z`;
      y = top;
    });
  });
  return out;
}

const round = (n: number) => Math.round(n * 100) / 100;

/** A window of time as it stands in an address. */
export interface Bounds {
  readonly from: string;
  readonly until: string | undefined;
}

/** Without the fraction where it says nothing. */
const plain = (time: string) => time.replace(/\.0+Z$/, "Z");

function inUtc(time: string): string {
  return plain(new Date(Date.parse(time)).toISOString());
}

/** What buckets from one to another cover of the window that they are of: their bars' events and no more. */
export function boundsOf(
  buckets: readonly Bucket[],
  first: number,
  last: number,
  window: Bounds,
): Bounds | undefined {
  const from = buckets[first]?.from;
  const until = buckets[last]?.until;
  if (from === undefined || until === undefined) return undefined;
  const end = window.until;
  return {
    from: Date.parse(from) <= Date.parse(window.from) ? plain(window.from) : inUtc(from),
    until: end !== undefined && Date.parse(until) >= Date.parse(end) ? plain(end) : inUtc(until),
  };
}

/** Twice as long a window around the same middle; one that reaches the present stays open. */
export function widened({ from, until }: Bounds, now: number): Bounds {
  const start = Date.parse(from);
  const end = until === undefined ? now : Date.parse(until);
  const by = Math.max((end - start) / 2, 500);
  const later = until === undefined || end + by >= now;
  return {
    from: plain(new Date(Math.round(until === undefined ? start - 2 * by : start - by)).toISOString()),
    until: later ? undefined : plain(new Date(Math.round(end + by)).toISOString()),
  };
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** What the zone's clock shows; the server writes its offset. */
function wall(time: string) {
  const month = months[Number(time.slice(5, 7)) - 1] ?? "";
  return {
    day: `${Number(time.slice(8, 10))} ${month}`,
    month: `${month} ${time.slice(0, 4)}`,
    clock: time.slice(11, 16),
    seconds: time.slice(11, 19),
    midnight: time.slice(11, 19) === "00:00:00",
    ms: Date.parse(`${time.slice(0, 19)}Z`),
  };
}

/** As the server wrote it. */
const offsetOf = (time: string) => time.slice(19).replace(/^\.\d+/, "");

const unitOf = (interval: string) => interval.slice(-1);

function point(time: string, interval: string): string {
  const at = wall(time);
  const unit = unitOf(interval);
  if (unit === "M") return at.month;
  if (unit === "d" || at.midnight) return at.day;
  return unit === "s" ? at.seconds : at.clock;
}

/** `30 Nov 14:31 – 14:32`, or of whole days `14 Nov` */
export function rangeLabel(from: string, until: string, interval: string): string {
  const a = wall(from);
  const b = wall(until);
  const unit = unitOf(interval);
  if (unit === "M" && b.ms - a.ms < 32 * 86_400_000) return a.month;
  if (unit === "d" && b.ms - a.ms <= 86_400_000) return a.day;
  const time = (at: typeof a) => (unit === "s" || at.ms % 60_000 !== 0 ? at.seconds : at.clock);
  if (unit === "d" || unit === "M") return `${a.day} – ${b.day}`;
  // An hour that the clock shows twice is told by its offset.
  const turned = offsetOf(from) !== offsetOf(until);
  const offset = (text: string) => (turned ? ` ${offsetOf(text)}` : "");
  return `${a.day} ${time(a)}${offset(from)} – ${a.day === b.day ? "" : `${b.day} `}${time(b)}${offset(until)}`;
}

export interface Tick {
  readonly index: number;
  readonly label: string;
}

const day = 86_400;
/** Seconds between two named buckets. */
const spans = [
  1,
  5,
  10,
  15,
  30,
  60,
  120,
  300,
  600,
  900,
  1800,
  3600,
  7200,
  10_800,
  14_400,
  21_600,
  43_200,
  ...[1, 2, 3, 4, 5, 7, 10, 14].map((days) => days * day),
];

/** The buckets that are named below, at most `most` of them, at round times of the clock. */
export function ticks(buckets: readonly Bucket[], interval: string, most: number): Tick[] {
  const first = buckets[0];
  if (!first) return [];
  const length = Math.max((Date.parse(first.until) - Date.parse(first.from)) / 1000, 1);
  const fits = (size: number) => Number.isInteger(size) && Math.ceil(buckets.length / size) <= most;
  const step = spans.map((span) => span / length).find(fits) ?? Math.ceil(buckets.length / most);
  // The first bucket may be at any place of the day: the names begin at the first round one.
  const place = length >= day ? 0 : Math.round(wall(first.from).ms / 1000 / length);
  const start = (step - (place % step)) % step;
  const named: (Tick & { readonly offset: string })[] = [];
  for (let index = start; index < buckets.length; index += step) {
    const bucket = buckets[index];
    if (bucket) named.push({ index, label: point(bucket.from, interval), offset: offsetOf(bucket.from) });
  }
  // An hour that the clock shows twice is told by its offset.
  return named.map(({ index, label, offset }) => {
    const twice = named.some(
      (other) => other.label === label && other.offset !== offset && index !== other.index,
    );
    return { index, label: twice ? `${label} ${offset}` : label };
  });
}
