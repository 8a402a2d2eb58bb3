import type { Field } from "#/lib/search.ts";
import { shortTime } from "#/lib/time.ts";
import { outdatedClass } from "#/ui/controls.tsx";
import { useZone } from "#/ui/zone.tsx";
import { BoxFailed } from "../BoxFailed.tsx";
import type { Sidebar } from "./FacetSidebar.tsx";
import { type FacetRow, FacetValues } from "./FacetValues.tsx";
import { GroupFrame, WaitingValues } from "./GroupFrame.tsx";
import { absence, pickOf, picksOf, toggled } from "./picks.ts";
import { isWhole, percent, rowsOfField, useStatistics } from "./useStatistics.ts";

const few = 8;

/** A place in the data that was put on top: what the newest events have there. */
export function SampledGroup({ field, sidebar }: { field: Field; sidebar: Sidebar }) {
  const { search, run, prefs, onFilters, onAction, onCopy, onStatistics } = sidebar;
  const zone = useZone();
  const open = prefs.open[field] ?? true;
  const box = useStatistics(run, search, field, open);
  const statistics = box.data?.fields[0];
  const rows: FacetRow[] = [];
  if (box.data && statistics) {
    rows.push(...rowsOfField(box.data, statistics, search).slice(0, few));
    const missing = box.data.sample - statistics.present;
    if (missing > 0) {
      const sampled = !isWhole(statistics);
      rows.push({
        value: absence(),
        count: missing,
        told: sampled ? percent(missing, box.data.sample, true) : missing.toLocaleString("en"),
        share: missing / box.data.sample,
        pick: pickOf(search.filters, field, absence()),
      });
    }
  }
  const sample = (box.data?.sample ?? 0).toLocaleString("en");
  return (
    <GroupFrame
      field={field}
      open={open}
      pinned={prefs.pinned.includes(field)}
      picks={picksOf(search.filters, field)}
      label={statistics && (isWhole(statistics) ? "exact" : `sample ${sample}`)}
      labelTitle={
        box.data &&
        `Counted on the newest ${sample} events, since ${shortTime(box.data.covered.from, zone)} ${zone}`
      }
      reading={box.reading}
      onOpen={(next) => prefs.setOpen(field, next)}
      onPinned={(pinned) => prefs.setPinned(field, pinned)}
      onStatistics={() => onStatistics(field)}
    >
      {box.error ? (
        <div className="px-3 py-1">
          <BoxFailed what="Not counted." box={box} error={box.error} onSnapshot={run.again} />
        </div>
      ) : !statistics ? (
        <WaitingValues count={3} />
      ) : (
        <div className={box.outdated ? outdatedClass : ""}>
          <FacetValues
            field={field}
            rows={rows}
            onToggle={(value) => onFilters(toggled(search.filters, field, value))}
            onAction={onAction}
            onCopy={onCopy}
            menu={[[{ label: "Statistics of the field", icon: "bars", onSelect: () => onStatistics(field) }]]}
          />
          {rows.length === 0 && <p className="px-3 py-1 t-11 text-ink-3">No event has it.</p>}
        </div>
      )}
    </GroupFrame>
  );
}
