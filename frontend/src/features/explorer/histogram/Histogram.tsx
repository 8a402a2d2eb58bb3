import { useEffect, useRef } from "react";
import type { Histogram as Counts } from "#/api/oriel.gen.ts";
import { lengthText, timeOfDay } from "#/lib/time.ts";
import { Button } from "#/ui/controls.tsx";
import { useKeys } from "#/ui/keys.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Visible } from "#/ui/visible.tsx";
import { BoxFailed } from "../BoxFailed.tsx";
import type { Box } from "../useBox.ts";
import {
  type Bounds,
  boundsOf,
  bucketWidth,
  chartHeight,
  paths,
  rangeLabel,
  type Series,
  seriesOf,
  tallest,
  ticks,
  widened,
} from "./geometry.ts";
import { type Range, useBrush } from "./useBrush.ts";

export interface HistogramProps {
  readonly box: Box<Counts>;
  readonly onZoom: (bounds: Bounds) => void;
  readonly onSnapshot: () => void;
  /** Something lies open that Escape closes first. */
  readonly busy: boolean;
}

/** How many events there are over time: one box, which waits, fails and is told by itself. */
export function Histogram(props: HistogramProps) {
  const { box } = props;
  if (box.error) {
    return (
      <div className="px-4 pt-3 wide:px-3">
        <BoxFailed
          what="The histogram was not made."
          box={box}
          error={box.error}
          onSnapshot={props.onSnapshot}
        />
      </div>
    );
  }
  if (!box.data || !box.taken) return <Waiting reading={box.reading} />;
  const { from, until } = box.taken.snapshot;
  return <Chart {...props} counts={box.data} window={{ from, until }} />;
}

function Waiting({ reading }: { reading: boolean }) {
  return (
    <div className="px-4 pt-3.5 wide:px-3" role="status" aria-label={reading ? "Counting over time" : ""}>
      <div aria-hidden="true" className="flex h-12.5 items-end gap-0.5 border-b border-line">
        {Array.from({ length: 60 }, (_, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: the bars are alike
            key={index}
            className="flex-1 bg-active"
            style={{ height: reading ? `${35 + ((index * 37) % 23)}%` : 0 }}
          />
        ))}
      </div>
    </div>
  );
}

function Chart({ box, counts, window, onZoom, busy }: HistogramProps & { counts: Counts; window: Bounds }) {
  const chart = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const { buckets, interval, total } = counts;
  const layers = seriesOf(counts);
  const most = tallest(buckets);
  const starts = buckets.map(({ from }) => Date.parse(from));
  const end = Date.parse(buckets.at(-1)?.until ?? window.from);
  const zoomTo = ({ first, last }: Range) => {
    const bounds = boundsOf(buckets, first, last, window);
    const whole = first === 0 && last === buckets.length - 1;
    if (bounds && !whole) onZoom(bounds);
  };
  const out = () => onZoom(widened(window, Date.now()));
  const brush = useBrush({ chart, starts, end, onZoom: zoomTo, onOut: out });
  useKeys({
    Escape: (event) => {
      if (busy || !brush.range) return;
      event.preventDefault();
      brush.clear();
    },
  });
  const { at, range } = brush;
  const partly = total.relation !== "exact" || later(total.covered.from, window.from);
  const said = range ?? (at === undefined ? undefined : { first: at, last: at });
  const now = at ?? range?.last ?? buckets.length - 1;
  return (
    <div
      className={`relative px-4 pt-3.25 wide:px-3 ${box.outdated ? "opacity-60" : ""}`}
      aria-busy={box.outdated}
    >
      <div className="pointer-events-none absolute inset-x-4 -top-0.75 flex justify-between gap-2 t-11 text-ink-3 wide:inset-x-3">
        <span>{most.toLocaleString("en")}</span>
        {partly && <Partly counts={counts} />}
      </div>
      <div
        ref={chart}
        role="slider"
        tabIndex={0}
        aria-label={`Events over time, a bar for ${intervalText(interval)}`}
        aria-description="Arrows walk, Shift and arrows select, Enter zooms, Escape clears, a double click zooms out."
        aria-valuemin={0}
        aria-valuemax={Math.max(buckets.length - 1, 0)}
        aria-valuenow={now}
        aria-valuetext={spoken(counts, layers, said ?? { first: now, last: now })}
        className="relative h-12.75 cursor-crosshair touch-pan-y border-t border-dashed border-line-2 select-none"
        {...brush.handlers}
      >
        <svg
          aria-hidden="true"
          viewBox={`0 0 ${buckets.length * bucketWidth} ${chartHeight}`}
          preserveAspectRatio="none"
          shapeRendering="crispEdges"
          className="block h-12.5 w-full"
        >
          <defs>
            <pattern
              id="histogram-hatch"
              width="4"
              height="4"
              patternUnits="userSpaceOnUse"
              patternTransform="rotate(45)"
            >
              <path d="M0 0h2v4H0z" className="fill-surface" fillOpacity=".5" />
            </pattern>
          </defs>
          {paths(layers, buckets).map((path, index) => {
            const layer = layers[index];
            return (
              layer && (
                <g key={layer.label}>
                  <path d={path} style={{ fill: layer.fill }} />
                  {layer.hatched && <path d={path} fill="url(#histogram-hatch)" />}
                </g>
              )
            );
          })}
        </svg>
        {at !== undefined && !brush.dragging && (
          <Band range={{ first: at, last: at }} of={buckets.length} className="bg-ink/10" />
        )}
        {range && (
          <Band
            range={range}
            of={buckets.length}
            className="border-x border-accent bg-accent/14 before:absolute before:top-5 before:-left-0.75 before:h-4 before:w-1.25 before:rounded-1 before:bg-accent-fill after:absolute after:top-5 after:-right-0.75 after:h-4 after:w-1.25 after:rounded-1 after:bg-accent-fill"
          />
        )}
      </div>
      <div aria-hidden="true" className="relative h-4 overflow-hidden t-11 text-ink-3">
        {ticks(buckets, interval, narrow ? 4 : 8).map(({ index, label }) => (
          <span
            key={index}
            className={`absolute whitespace-nowrap ${index / buckets.length > 0.9 ? "right-0" : ""}`}
            style={index / buckets.length > 0.9 ? undefined : { left: `${(index / buckets.length) * 100}%` }}
          >
            {label}
          </span>
        ))}
      </div>
      {said && (
        <Told
          counts={counts}
          layers={layers}
          range={said}
          dragging={brush.dragging}
          onZoom={
            range && !brush.dragging
              ? () => {
                  zoomTo(range);
                  brush.clear();
                }
              : undefined
          }
          onClear={brush.clear}
        />
      )}
    </div>
  );
}

function later(a: string, b: string): boolean {
  return Date.parse(a) > Date.parse(b);
}

/** What the numbers leave out. */
function Partly({ counts }: { counts: Counts }) {
  const { relation, covered, value } = counts.total;
  const n = value.toLocaleString("en");
  const since = `${timeOfDay(covered.from, counts.zone, 0)}`;
  return (
    <span
      className="cut bg-surface px-1 text-warning"
      title={`The bars count the window from ${covered.from} on. What is older was not counted: a shorter window or a narrower filter is counted whole.`}
    >
      {relation === "sampled" ? `sample of the newest ${n}` : `newest ${n}`}, since {since}
    </span>
  );
}

function Band({ range, of, className }: { range: Range; of: number; className: string }) {
  return (
    <span
      aria-hidden="true"
      className={`pointer-events-none absolute inset-y-0 ${className}`}
      style={{
        left: `${(range.first / of) * 100}%`,
        width: `${((range.last + 1 - range.first) / of) * 100}%`,
      }}
    />
  );
}

function countsIn(counts: Counts, { first, last }: Range): number {
  return counts.buckets.slice(first, last + 1).reduce((total, bucket) => total + bucket.count, 0);
}

function rangeText({ buckets, interval }: Counts, { first, last }: Range): string {
  const from = buckets[first]?.from;
  const until = buckets[last]?.until;
  return from && until ? rangeLabel(from, until, interval) : "";
}

function within(layer: Series, { first, last }: Range): number {
  return layer.counts.slice(first, last + 1).reduce((total, count) => total + count, 0);
}

const events = (count: number) => `${count.toLocaleString("en")} ${count === 1 ? "event" : "events"}`;

function spoken(counts: Counts, layers: readonly Series[], range: Range): string {
  const parts = layers
    .toReversed()
    .map((layer) => [layer.label, within(layer, range)] as const)
    .filter(([, count]) => count > 0)
    .map(([label, count]) => `${label} ${count.toLocaleString("en")}`);
  return [rangeText(counts, range), events(countsIn(counts, range)), ...parts].join(", ");
}

/** Of the bar or the selection: when, how many and of what. It lies over the list and moves nothing. */
function Told({
  counts,
  layers,
  range,
  dragging,
  onZoom,
  onClear,
}: {
  counts: Counts;
  layers: readonly Series[];
  range: Range;
  dragging: boolean;
  /** There is a selection to be zoomed into. */
  onZoom: (() => void) | undefined;
  onClear: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const middle = (range.first + range.last + 1) / 2 / Math.max(counts.buckets.length, 1);
  // Beside the bar that it tells of, and within the box.
  useEffect(() => {
    const element = box.current;
    const parent = element?.offsetParent;
    if (!element || !parent) return;
    const room = parent.clientWidth - element.offsetWidth - 24;
    element.style.left = `${12 + Math.min(Math.max(middle * (parent.clientWidth - 24) - element.offsetWidth / 2, 0), Math.max(room, 0))}px`;
  });
  const length =
    Date.parse(counts.buckets[range.last]?.until ?? "") - Date.parse(counts.buckets[range.first]?.from ?? "");
  return (
    <div
      ref={box}
      className={`absolute top-full z-20 rounded-2 bg-raised px-2 py-1.5 t-11 whitespace-nowrap shadow-pop ${onZoom ? "" : "pointer-events-none"}`}
      onPointerDown={(event) => event.stopPropagation()}
    >
      <div className="flex items-center gap-1.5 text-ink">
        <b className="font-semibold">{rangeText(counts, range)}</b>
        <span className="text-ink-3">{lengthText(length)}</span>
        {dragging && <span className="text-accent">release to zoom</span>}
      </div>
      <div className="text-ink-2">{events(countsIn(counts, range))}</div>
      {layers.toReversed().map((layer) => {
        const count = within(layer, range);
        return (
          count > 0 && (
            <div key={layer.label} className="flex items-center gap-1.5 text-ink-2">
              <Swatch layer={layer} />
              <span className="max-w-60 cut">
                <Visible text={layer.label} />
              </span>
              <span className="ml-auto pl-3">{count.toLocaleString("en")}</span>
            </div>
          )
        );
      })}
      {onZoom && (
        <div className="mt-1.5 flex gap-1.5">
          <Button size="small" onClick={onZoom}>
            Zoom in
          </Button>
          <Button size="small" look="ghost" onClick={onClear}>
            Clear
          </Button>
        </div>
      )}
    </div>
  );
}

export function Swatch({ layer }: { layer: Series }) {
  return (
    <span
      aria-hidden="true"
      className="size-2 flex-none rounded-[1px]"
      style={{
        background: layer.hatched
          ? `repeating-linear-gradient(45deg, ${layer.fill} 0 2px, color-mix(in srgb, ${layer.fill} 50%, var(--color-surface)) 2px 4px)`
          : layer.fill,
      }}
    />
  );
}

const unitNames: Readonly<Record<string, string>> = {
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
  M: "month",
};

function intervalText(interval: string): string {
  const n = Number.parseInt(interval, 10);
  const unit = unitNames[interval.slice(-1)] ?? "";
  return n === 1 ? `each ${unit}` : `${n} ${unit}s`;
}
