import { useEffect, useRef } from "react";
import type { Histogram as Counts } from "#/api/oriel.gen.ts";
import { exactLength } from "#/lib/time.ts";
import { Button } from "#/ui/controls.tsx";
import { Visible } from "#/ui/visible.tsx";
import type { Series } from "./geometry.ts";
import { Swatch } from "./Swatch.tsx";
import { countsIn, events, rangeText, within } from "./tell.ts";
import type { Range } from "./useBrush.ts";

/** Of the bar or the selection: when, how many and of what. It lies over the list and moves nothing. */
export function Told({
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
        <span className="text-ink-3">{exactLength(length)}</span>
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
