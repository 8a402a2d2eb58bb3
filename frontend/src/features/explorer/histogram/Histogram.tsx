import type { Histogram as Counts } from "#/api/oriel.gen.ts";
import { BoxFailed } from "../BoxFailed.tsx";
import type { Box } from "../useBox.ts";
import { Chart } from "./Chart.tsx";
import type { Bounds } from "./geometry.ts";

export interface HistogramProps {
  readonly box: Box<Counts>;
  readonly onZoom: (bounds: Bounds) => void;
  readonly onSnapshot: () => void;
  /** Something lies open that Escape closes first. */
  readonly busy: boolean;
}

/** How many events there are over time: one box, which waits, fails and is told by itself. */
export function Histogram({ box, onZoom, onSnapshot, busy }: HistogramProps) {
  if (box.error) {
    return (
      <div className="px-4 pt-3 wide:px-3">
        <BoxFailed what="The histogram was not made." box={box} error={box.error} onSnapshot={onSnapshot} />
      </div>
    );
  }
  if (!box.data || !box.taken) return <Waiting reading={box.reading} />;
  const { from, until } = box.taken.snapshot;
  return (
    <Chart counts={box.data} window={{ from, until }} outdated={box.outdated} onZoom={onZoom} busy={busy} />
  );
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
