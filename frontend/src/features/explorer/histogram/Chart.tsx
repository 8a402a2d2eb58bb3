import { useRef } from "react";
import type { Histogram as Counts } from "#/api/oriel.gen.ts";
import { timeOfDay } from "#/lib/time.ts";
import { outdatedClass } from "#/ui/controls.tsx";
import { useKeys } from "#/ui/keys.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import {
  type Bounds,
  boundsOf,
  bucketWidth,
  chartHeight,
  paths,
  seriesOf,
  tallest,
  ticks,
  widened,
} from "./geometry.ts";
import { Told } from "./Told.tsx";
import { intervalText, spoken } from "./tell.ts";
import { type Range, useBrush } from "./useBrush.ts";

/** The bars, and what is picked among them. */
export function Chart({
  counts,
  window,
  outdated,
  onZoom,
  busy,
}: {
  counts: Counts;
  window: Bounds;
  /** The counts are of an earlier search. */
  outdated: boolean;
  onZoom: (bounds: Bounds) => void;
  /** Something lies open that Escape closes first. */
  busy: boolean;
}) {
  const chart = useRef<HTMLDivElement>(null);
  const narrow = useNarrow();
  const { buckets, interval, total } = counts;
  const layers = seriesOf(counts);
  const most = tallest(buckets);
  const starts = buckets.map(({ from }) => Date.parse(from));
  const end = Date.parse(buckets.at(-1)?.until ?? window.from);
  const partly = total.relation !== "exact" || later(total.covered.from, window.from);
  const zoomTo = ({ first, last }: Range) => {
    // The first bar may be of a part of its time: what came before was not counted.
    const counted = partly ? { ...window, from: total.covered.from } : window;
    const bounds = boundsOf(buckets, first, last, counted);
    const whole = !partly && first === 0 && last === buckets.length - 1;
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
  const said = range ?? (at === undefined ? undefined : { first: at, last: at });
  const now = at ?? range?.last ?? buckets.length - 1;
  return (
    <div className={`relative px-4 pt-3.25 wide:px-3 ${outdated ? outdatedClass : ""}`} aria-busy={outdated}>
      <div className="pointer-events-none absolute inset-x-4 -top-0.75 flex justify-between gap-2 t-11 text-ink-3 wide:inset-x-3">
        <span>{most.toLocaleString("en")}</span>
        {partly && <Partly counts={counts} />}
      </div>
      <div
        ref={chart}
        role="slider"
        tabIndex={0}
        aria-label={`Events over time, a bar for ${intervalText(interval)}`}
        aria-description="Arrows walk, Shift and arrows select, Enter zooms, - or a double click zooms out, Escape clears."
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
          // At its place; a name that the edge would cut wraps below it, out of sight.
          <span
            // Names of other times are no names that moved.
            key={`${label} ${index}/${buckets.length}`}
            data-tick={index}
            className="absolute right-0 flex h-4 flex-wrap overflow-hidden whitespace-nowrap"
            style={{ left: `${(index / buckets.length) * 100}%` }}
          >
            <i className="h-4 w-0" />
            <span>{label}</span>
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
