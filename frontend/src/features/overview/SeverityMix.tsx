import type { FacetList } from "#/api/oriel.gen.ts";
import { Severity } from "#/ui/severity.tsx";
import { mixOf, numberText, onlySeverity, shareText } from "./numbers.ts";
import { Panel, Proof, Shown } from "./Panel.tsx";
import type { Box } from "./useOverview.ts";
import { fillOf } from "./Volume.tsx";

/** A number is small, and what is pressed must not be. */
const target =
  "-mx-1.5 inline-flex h-6 min-w-6 items-center justify-center gap-1.5 px-1.5 hover:underline max-wide:h-10 max-wide:min-w-10";

export function SeverityMix({ facets }: { facets: Box<FacetList> }) {
  const counts = facets.data?.facets.find(({ field }) => field === "severity");
  const { window } = facets;
  const mix = counts ? mixOf(counts) : [];
  const all = mix.reduce((sum, { count }) => sum + count, 0);
  return (
    <Panel
      heading="Severity mix"
      beside={counts?.relation === "sampled" && `of a sample of ${numberText(counts.sample ?? 0, "exact")}`}
    >
      <Shown box={facets} what="The severity mix" height="h-20">
        {mix.length === 0 && <p className="px-4 py-6 t-12 text-ink-2">No event is in this window.</p>}
        {mix.length > 0 && window && (
          <div className="px-4 py-3">
            <div aria-hidden="true" className="flex h-2 gap-px">
              {mix.map(({ level, count }) => (
                <span
                  key={level ?? ""}
                  className="min-w-0.5 forced-color-adjust-none"
                  style={{ flexGrow: count, flexBasis: 0, background: fillOf(level) }}
                />
              ))}
            </div>
            <ul className="mt-2 flex flex-wrap gap-x-6 gap-y-1 t-12">
              {mix.map(({ level, count }) => (
                <li key={level ?? ""} className="flex items-center gap-1.5">
                  {level ? <Severity level={level} /> : <span className="text-ink-2">none</span>}
                  <Proof window={window} filters={onlySeverity(level)} className={target}>
                    <span className="tabular-nums">
                      {numberText(count, counts?.relation === "exact" ? "exact" : "sampled")}
                    </span>{" "}
                    <span className="text-ink-3">{shareText(count, all)}</span>
                  </Proof>
                </li>
              ))}
            </ul>
          </div>
        )}
      </Shown>
    </Panel>
  );
}
