import { getHistogram, type Histogram } from "#/api/oriel.gen.ts";
import { listParams, type Search } from "#/lib/search.ts";
import { utc } from "#/lib/time.ts";
import { useNarrow } from "#/ui/narrow.ts";
import { useZone } from "#/ui/zone.tsx";
import { type Box, useBox } from "../useBox.ts";
import type { Run } from "../useRun.ts";

/** How the address says that the bars are not split. */
export const unsplit = "none";

/** The field that the bars are split by; undefined where they are not. */
export function splitOf({ split }: Pick<Search, "split">): string | undefined {
  return split === unsplit ? undefined : (split ?? "severity");
}

/** The counts over time of a search, on the snapshot of its rows. */
export function useHistogram(run: Run, search: Search, on: boolean): Box<Histogram> {
  const zone = useZone();
  const narrow = useNarrow();
  const splitBy = splitOf(search);
  const params = {
    ...listParams(search),
    ...(zone !== utc && { zone }),
    ...(splitBy !== undefined && { splitBy }),
    buckets: narrow ? 60 : 100,
  };
  return useBox("histogram", run, params, getHistogram, on);
}
