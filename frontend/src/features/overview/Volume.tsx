import { type KeyboardEvent, useMemo, useState } from "react";
import type { Bucket, Histogram } from "#/api/oriel.gen.ts";
import { isSeverity, severities } from "#/lib/severity.ts";
import { rangeText, shortTime, timeOfDay } from "#/lib/time.ts";
import { SeverityMark } from "#/ui/severity.tsx";
import { useZone } from "#/ui/zone.tsx";
import { bucketWindow, numberText, shareText, type Window, worstOf } from "./numbers.ts";
import { Panel, Proof, Shown } from "./Panel.tsx";
import type { Box } from "./useOverview.ts";

const hatched =
  "repeating-linear-gradient(135deg, var(--color-critical-fill) 0 2px, var(--color-surface) 2px 3px)";
const fills: Readonly<Record<string, string>> = {
  trace: "var(--color-debug-fill)",
  debug: "var(--color-debug-fill)",
  info: "var(--color-info-fill)",
  notice: "var(--color-info-fill)",
  warning: "var(--color-warning-fill)",
  error: "var(--color-error-fill)",
  critical: hatched,
  emergency: hatched,
};
const none = "var(--color-line-3)";

/** The fill of a severity in a chart. */
export function fillOf(level: string | undefined): string {
  return (level !== undefined && fills[level]) || none;
}

export function Volume({ box }: { box: Box<Histogram> }) {
  const { data, window } = box;
  const names = data?.split?.filter(isSeverity) ?? [];
  return (
    <Panel
      heading="Volume"
      beside={data && data.total.value > 0 && `per ${intervalName(data.interval)}, by severity`}
      tools={
        <span className="flex flex-wrap gap-x-3 t-11 text-ink-2">
          {severities
            .filter((level) => names.includes(level))
            .map((level) => (
              <span key={level} className="flex items-center gap-1">
                <SeverityMark level={level} />
                {level}
              </span>
            ))}
          {data?.buckets.some(({ rest = 0 }) => rest > 0) && (
            <span className="flex items-center gap-1">
              <span aria-hidden="true" className="size-2 bg-line-3" />
              none
            </span>
          )}
        </span>
      }
    >
      <Shown box={box} what="The volume" height="h-58">
        {data?.total.value === 0 && <p className="px-4 py-6 t-12 text-ink-2">No event is in this window.</p>}
        {data && window && data.total.value > 0 && (
          <Bars histogram={data} window={window} outdated={box.outdated} />
        )}
      </Shown>
    </Panel>
  );
}

const units: Readonly<Record<string, string>> = {
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
  M: "month",
};

/** `15 minutes`, `hour` */
function intervalName(interval: string): string {
  const n = Number.parseInt(interval, 10);
  const unit = units[interval.slice(-1)] ?? interval;
  return n === 1 ? unit : `${n} ${unit}s`;
}

function Bars({ histogram, window, outdated }: { histogram: Histogram; window: Window; outdated: boolean }) {
  const zone = useZone();
  const { buckets, split } = histogram;
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  // From the bottom up: the worst is on top.
  const order = useMemo(() => {
    const rank = (index: number) => {
      const level = split?.[index] ?? "";
      return isSeverity(level) ? severities.indexOf(level) : -1;
    };
    return (split ?? []).map((_, index) => index).toSorted((a, b) => rank(b) - rank(a));
  }, [split]);
  const [at, setAt] = useState(0);
  const worst = worstOf(histogram);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: buckets.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = Math.max(0, Math.min(to, buckets.length - 1));
    setAt(next);
    event.currentTarget.querySelectorAll("a")[next]?.focus();
  };
  return (
    <div className={`px-4 pt-2 pb-3 ${outdated ? "text-ink-3" : ""}`}>
      <p className="t-11 text-ink-3">{numberText(most, "exact")}</p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of links */}
      <div
        role="group"
        aria-label="Events over time; arrows move"
        className="flex h-29 items-stretch gap-px border-y border-line"
        onKeyDown={onKeyDown}
      >
        {buckets.map((bucket, index) => {
          const text = `${rangeText(bucket.from, bucket.until, zone)}: ${numberText(bucket.count, "exact")} events, ${numberText(bucket.errors, "exact")} errors`;
          return (
            <Proof
              key={bucket.from}
              window={bucketWindow(bucket, window)}
              title={text}
              label={text}
              tabIndex={index === Math.min(at, buckets.length - 1) ? 0 : -1}
              className="flex min-w-0 flex-1 flex-col-reverse hover:bg-hover focus-visible:bg-active"
            >
              <Stack bucket={bucket} order={order} split={split} most={most} />
            </Proof>
          );
        })}
      </div>
      <div className="mt-2 flex justify-between gap-2 t-11 text-ink-3">
        <span>Error share</span>
        {worst && (
          <Proof window={bucketWindow(worst, window)} filters={{ severity: ["error"] }}>
            peak {shareText(worst.errors, worst.count)} at {timeOfDay(worst.from, zone, 0)}
          </Proof>
        )}
      </div>
      <ErrorLine buckets={buckets} />
      <div className="mt-1 flex justify-between t-11 text-ink-3">
        <span>{shortTime(window.from, zone)}</span>
        <span>{shortTime(window.until, zone)}</span>
      </div>
    </div>
  );
}

function Stack({
  bucket,
  order,
  split,
  most,
}: {
  bucket: Bucket;
  order: readonly number[];
  split: readonly string[] | undefined;
  most: number;
}) {
  const layers = [
    { level: undefined, count: bucket.rest ?? (split ? 0 : bucket.count) },
    ...order.map((index) => ({ level: split?.[index], count: bucket.split?.[index] ?? 0 })),
  ];
  return layers
    .filter(({ count }) => count > 0)
    .map(({ level, count }) => (
      <span
        key={level ?? ""}
        aria-hidden="true"
        className="block min-h-px"
        style={{ height: `${(count / most) * 100}%`, background: fillOf(level) }}
      />
    ));
}

/** Which part of each bar's events were errors. */
function ErrorLine({ buckets }: { buckets: readonly Bucket[] }) {
  const shares = buckets.map(({ count, errors }) => (count === 0 ? 0 : errors / count));
  const most = Math.max(0.01, ...shares);
  const points = shares.map((share, index) => `${index + 0.5},${(1 - share / most) * 38 + 1}`);
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${Math.max(buckets.length, 1)} 40`}
      preserveAspectRatio="none"
      className="mt-1 block h-10 w-full border-b border-line"
    >
      <polyline
        points={points.join(" ")}
        fill="none"
        stroke="var(--color-error-fill)"
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
