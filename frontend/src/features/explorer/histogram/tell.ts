/** What the bars say in words. */
import type { Histogram as Counts } from "#/api/oriel.gen.ts";
import { rangeLabel, type Series } from "./geometry.ts";
import type { Range } from "./useBrush.ts";

export function countsIn(counts: Counts, { first, last }: Range): number {
  return counts.buckets.slice(first, last + 1).reduce((total, bucket) => total + bucket.count, 0);
}

export function rangeText({ buckets, interval }: Counts, { first, last }: Range): string {
  const from = buckets[first]?.from;
  const until = buckets[last]?.until;
  return from && until ? rangeLabel(from, until, interval) : "";
}

export function within(layer: Series, { first, last }: Range): number {
  return layer.counts.slice(first, last + 1).reduce((total, count) => total + count, 0);
}

export const events = (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "event" : "events"}`;

export function spoken(counts: Counts, layers: readonly Series[], range: Range): string {
  const parts = layers
    .toReversed()
    .map((layer) => [layer.label, within(layer, range)] as const)
    .filter(([, count]) => count > 0)
    .map(([label, count]) => `${label} ${count.toLocaleString("en")}`);
  return [rangeText(counts, range), events(countsIn(counts, range)), ...parts].join(", ");
}

const unitNames: Readonly<Record<string, string>> = {
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
  M: "month",
};

export function intervalText(interval: string): string {
  const n = Number.parseInt(interval, 10);
  const unit = unitNames[interval.slice(-1)] ?? "";
  return n === 1 ? `each ${unit}` : `${n} ${unit}s`;
}
