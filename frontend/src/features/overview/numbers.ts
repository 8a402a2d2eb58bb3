/** What the numbers of an overview say, and the searches that prove them. */
import type { Bucket, Count, FacetCounts, Histogram, Severity, Snapshot } from "#/api/oriel.gen.ts";
import type { Params } from "#/lib/search.ts";
import { severities } from "#/lib/severity.ts";

/** A window of fixed dates, in which a search finds what an overview counted. */
export interface Window {
  readonly from: string;
  readonly until: string;
}

const whole = new Intl.NumberFormat("en").format;

/** Numbers carry their limit. */
export function numberText(value: number, relation: Count["relation"]): string {
  const limit = { exact: "", atLeast: "≥ ", sampled: "about " }[relation];
  return `${limit}${whole(value)}`;
}

/** `0.45 %`; of what is there but rounds to nothing, `< 0.01 %`. */
export function shareText(part: number, all: number): string {
  if (all === 0 || part === 0) return "0 %";
  const percent = (part / all) * 100;
  return percent < 0.01 ? "< 0.01 %" : `${percent.toFixed(percent === 100 ? 0 : 2)} %`;
}

/** `+4.1 %`; undefined where there was nothing to compare with. */
export function changeText(now: number, before: number): string | undefined {
  if (before === 0) return undefined;
  const percent = ((now - before) / before) * 100;
  const size = Math.abs(percent);
  if (size >= 1000) return `${whole(Math.round(now / before))} ×`;
  const digits = size < 100 ? 1 : 0;
  return `${percent < 0 ? "−" : "+"}${whole(Number(size.toFixed(digits)))} %`;
}

/** The window that a snapshot froze; one without an end ends when the snapshot was taken. */
export function windowOf(snapshot: Pick<Snapshot, "from" | "until">, takenAt: string): Window {
  return { from: snapshot.from, until: snapshot.until ?? takenAt };
}

/** As long a window, just before. */
export function before({ from, until }: Window): Window {
  const length = Date.parse(until) - Date.parse(from);
  return { from: new Date(Date.parse(from) - length).toISOString(), until: from };
}

/** A search in a window, as its address says it. */
export function searchIn(window: Window, filters: Params = {}, zone: string | undefined = undefined): Params {
  return { ...filters, from: [window.from], until: [window.until], ...(zone && { zone: [zone] }) };
}

/** The part of the window that a bar counts. */
export function bucketWindow(bucket: Pick<Bucket, "from" | "until">, window: Window): Window {
  const later = Date.parse(bucket.from) > Date.parse(window.from);
  const earlier = Date.parse(bucket.until) < Date.parse(window.until);
  return {
    from: later ? new Date(bucket.from).toISOString() : window.from,
    until: earlier ? new Date(bucket.until).toISOString() : window.until,
  };
}

/** Events of one severity and no other, or of none: filters on severity are thresholds. */
export function onlySeverity(level: Severity | undefined): Params {
  return { "q!": [level ? `-severity:${level}` : "severity:*"] };
}

export interface Share {
  /** Undefined of events without a severity. */
  readonly level: Severity | undefined;
  readonly count: number;
}

/** What severities the events have, the worst first and those without at the end. */
export function mixOf(severity: FacetCounts): readonly Share[] {
  const shares: Share[] = severities.map((level) => ({
    level,
    count: severity.values.find(({ value }) => value === level)?.count ?? 0,
  }));
  shares.push({ level: undefined, count: severity.missing });
  return shares.filter(({ count }) => count > 0);
}

export function errorsOf({ buckets }: Histogram): number {
  return buckets.reduce((sum, { errors }) => sum + errors, 0);
}

/** The bar in which most of its events were errors. */
export function worstOf({ buckets }: Histogram): Bucket | undefined {
  const shareOf = ({ errors, count }: Bucket) => (count === 0 ? 0 : errors / count);
  const worst = buckets.reduce<Bucket | undefined>(
    (most, bucket) => (most && shareOf(most) >= shareOf(bucket) ? most : bucket),
    undefined,
  );
  return worst && worst.errors > 0 ? worst : undefined;
}

/** A line of small bars for one value of a split histogram. */
export function sparkOf({ buckets, split }: Histogram, value: string): readonly number[] | undefined {
  const index = split?.indexOf(value) ?? -1;
  return index < 0 ? undefined : buckets.map((bucket) => bucket.split?.[index] ?? 0);
}

const day = 86_400_000;
const second = 1000;

/** What was stored about a moment, of events up to a day old. */
export function arrivedAt(time: string): { readonly window: Window; readonly arrived: Params } {
  const at = (ms: number) => new Date(Date.parse(time) + ms).toISOString();
  return {
    window: { from: at(-day), until: at(day / 24) },
    arrived: { arrivedFrom: [at(-second)], arrivedUntil: [at(second)] },
  };
}

/** What was stored in the minute before, of events up to a day old. */
export function minuteBefore(time: string): { readonly window: Window; readonly arrived: Params } {
  const end = Date.parse(time);
  const ago = (ms: number) => new Date(end - ms).toISOString();
  return {
    // Clocks of producers run ahead a little.
    window: { from: ago(day), until: ago(-day / 24) },
    arrived: { arrivedFrom: [ago(60_000)], arrivedUntil: [ago(0)] },
  };
}
