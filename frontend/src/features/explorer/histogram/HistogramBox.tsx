import { useState } from "react";
import type { Histogram } from "#/api/oriel.gen.ts";
import { readHistogramShown, writeHistogramShown } from "#/lib/prefs.ts";
import { Button } from "#/ui/controls.tsx";
import { useShort } from "#/ui/narrow.ts";
import { HistogramPart } from "../parts.ts";
import type { Box } from "../useBox.ts";
import type { Run } from "../useRun.ts";
import type { Bounds } from "./geometry.ts";

/** Whether the histogram is shown, as this browser remembers it; unasked only where it leaves room for rows. */
export function useHistogramShown(): readonly [boolean, (shown: boolean) => void] {
  const [chosen, setShown] = useState(readHistogramShown);
  const short = useShort();
  const change = (next: boolean) => {
    writeHistogramShown(next);
    setShown(next);
  };
  return [chosen ?? !short, change];
}

/** The place of the histogram: as high before its code and its numbers come as with them. */
export function HistogramBox({
  due,
  run,
  box,
  busy,
  onZoom,
}: {
  /** The first rows are there: its code may come. */
  due: boolean;
  run: Run;
  box: Box<Histogram>;
  busy: boolean;
  onZoom: (bounds: Bounds) => void;
}) {
  return (
    <section
      aria-label="Events over time"
      className="relative h-21 flex-none border-b border-line wide:group-data-open:mr-(--drawer) dock:group-data-open:mr-0"
    >
      {due && (
        <HistogramPart
          box={box}
          busy={busy}
          onZoom={onZoom}
          onSnapshot={run.again}
          failed={({ retry }) => (
            <p className="px-4 py-3 t-12 text-ink-2 wide:px-3">
              The code of the histogram did not come.{" "}
              <Button look="ghost" size="small" onClick={retry}>
                Try again
              </Button>
            </p>
          )}
        />
      )}
    </section>
  );
}
