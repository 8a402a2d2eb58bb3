import { useEffect, useRef, useState } from "react";
import { type FacetCounts, type FacetList, getFacets } from "#/api/oriel.gen.ts";
import { type Field, listParams } from "#/lib/search.ts";
import { isSeverity, severities } from "#/lib/severity.ts";
import { shortTime } from "#/lib/time.ts";
import { outdatedClass } from "#/ui/controls.tsx";
import { SearchInput } from "#/ui/field.tsx";
import { useZone } from "#/ui/zone.tsx";
import { BoxFailed } from "../BoxFailed.tsx";
import { type Box, useBox } from "../useBox.ts";
import type { Sidebar } from "./FacetSidebar.tsx";
import { type FacetRow, FacetValues } from "./FacetValues.tsx";
import { GroupFrame, WaitingValues } from "./GroupFrame.tsx";
import { absence, pickOf, picksOf, toggled } from "./picks.ts";
import { useSettled } from "./useSettled.ts";

/** Values that a field shows before it is asked for more. */
const few = 5;
const many = 100;

/** A field whose values the server counts: all events of the search, or a sample that says so. */
export function FacetGroup({
  field,
  all,
  find,
  sidebar,
}: {
  field: Field;
  /** The counts of all fields. */
  all: Box<FacetList>;
  /** What is looked for in the sidebar, where the field itself is not called so. */
  find: string;
  sidebar: Sidebar;
}) {
  const { search, run, prefs, onStatistics } = sidebar;
  const zone = useZone();
  const [whole, setWhole] = useState(false);
  const [text, setText] = useState("");
  const contains = useSettled(find === "" ? text : find);
  const open = prefs.open[field] ?? usuallyOpen.has(field);
  const own = whole || find !== "";
  const params = { ...listParams(search), field: [field], limit: many, ...(contains && { contains }) };
  const asked = useBox("facet", run, params, getFacets, own && open);
  const box = own ? asked : all;
  const counts = box.data?.facets.find((facet) => facet.field === field);
  const rows = counts ? rowsOf(counts, sidebar, contains !== "") : [];
  // Among all fields those without such a value are not worth a line.
  if (find !== "" && (!open || (counts && !box.outdated && rows.length === 0))) return null;
  // Where one more is all there is, it takes the place of what would offer it.
  const first = rows.length === few + 1 && !counts?.more ? few + 1 : few;
  const shown = own ? rows : rows.filter(({ pick }, index) => index < first || pick !== undefined);
  const told = counts && relationOf(counts, zone);
  return (
    // The room of a few values and what is below them, so that other counts move nothing.
    <GroupFrame
      field={field}
      open={open}
      pinned={prefs.pinned.includes(field)}
      picks={picksOf(search.filters, field)}
      label={told?.label}
      labelTitle={told?.title}
      reading={box.reading}
      onOpen={(next) => prefs.setOpen(field, next)}
      onPinned={(pinned) => prefs.setPinned(field, pinned)}
      onStatistics={() => onStatistics(field)}
    >
      {whole && find === "" && (
        <ValueSearch field={field} text={text} onText={setText} onLeave={() => setWhole(false)} />
      )}
      <div className={find === "" ? "min-h-66 wide:min-h-36" : ""}>
        <Values field={field} box={box} rows={counts && shown} contains={contains} sidebar={sidebar} />
        {counts && find === "" && (
          <MoreValues
            whole={whole}
            hidden={rows.length - shown.length}
            more={counts.more}
            onWhole={(next) => {
              setText("");
              setWhole(next);
            }}
          />
        )}
      </div>
    </GroupFrame>
  );
}

function relationOf({ relation, sample, covered }: FacetCounts, zone: string) {
  if (relation === "exact") {
    return {
      label: "exact",
      title: "All events of the search are counted; what is picked here does not narrow these counts",
    };
  }
  const n = (sample ?? 0).toLocaleString("en");
  return {
    label: `sample ${n}`,
    title: `Counted on the newest ${n} events, since ${shortTime(covered.from, zone)} ${zone}`,
  };
}

function ValueSearch({
  field,
  text,
  onText,
  onLeave,
}: {
  field: Field;
  text: string;
  onText: (text: string) => void;
  onLeave: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.querySelector("input")?.focus(), []);
  return (
    <div ref={box} className="px-3 py-1">
      <SearchInput
        label={`Find a value of ${field}`}
        value={text}
        onChange={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.preventDefault();
          event.stopPropagation();
          onText("");
          onLeave();
        }}
      />
    </div>
  );
}

function Values({
  field,
  box,
  rows,
  contains,
  sidebar,
}: {
  field: Field;
  box: Box<FacetList>;
  rows: readonly FacetRow[] | undefined;
  contains: string;
  sidebar: Sidebar;
}) {
  const { search, run, onFilters, onAction, onCopy, onStatistics } = sidebar;
  if (box.error) {
    return (
      <div className="px-3 py-1">
        <BoxFailed what="Not counted." box={box} error={box.error} onSnapshot={run.again} />
      </div>
    );
  }
  if (!rows) return <WaitingValues count={few} />;
  return (
    <div className={`max-h-84 overflow-y-auto ${box.outdated ? outdatedClass : ""}`}>
      <FacetValues
        field={field}
        rows={rows}
        onToggle={(value) => onFilters(toggled(search.filters, field, value))}
        onAction={onAction}
        onCopy={onCopy}
        menu={[[{ label: "Statistics of the field", icon: "bars", onSelect: () => onStatistics(field) }]]}
      />
      {rows.length === 0 && (
        <p className="px-3 py-1 t-11 text-ink-3">
          {contains ? `No value with “${contains}”.` : "No event has it."}
        </p>
      )}
    </div>
  );
}

const usuallyOpen: ReadonlySet<Field> = new Set(["severity", "type", "source", "subject"]);

function rowsOf(counts: FacetCounts, { search, total }: Sidebar, searched: boolean): FacetRow[] {
  const { field, values, missing, relation, sample } = counts;
  const top = values.reduce((most, { count }) => Math.max(most, count), missing);
  // What is picked of a field does not narrow its counts: all of them are more than the search finds.
  const counted =
    picksOf(search.filters, field) > 0 ? values.reduce((sum, { count }) => sum + count, missing) : 0;
  const whole = Math.max(relation === "exact" ? (total ?? 0) : (sample ?? 0), counted, top, 1);
  const row = (value: FacetRow["value"], count: number): FacetRow => ({
    value,
    count,
    told: count.toLocaleString("en"),
    share: count / whole,
    pick: pickOf(search.filters, field, value),
  });
  // Levels stand by their rank, whose order everybody knows.
  const listed = field === "severity" ? values.toSorted((a, b) => rank(a.value) - rank(b.value)) : values;
  const rows = listed.map(({ value, count }) => row(value, count));
  if (missing > 0 && !searched) rows.push(row(absence(), missing));
  return rows;
}

function rank(level: string): number {
  return isSeverity(level) ? severities.indexOf(level) : severities.length;
}

function MoreValues({
  whole,
  hidden,
  more,
  onWhole,
}: {
  whole: boolean;
  hidden: number;
  /** There are values that were not sent. */
  more: boolean;
  onWhole: (whole: boolean) => void;
}) {
  const look = "flex h-10 items-center pl-8.5 t-11 text-ink-2 hover:text-ink hover:underline wide:h-5";
  if (whole) {
    return (
      <button type="button" className={look} onClick={() => onWhole(false)}>
        Fewer
      </button>
    );
  }
  if (hidden === 0 && !more) return null;
  return (
    <button type="button" className={look} onClick={() => onWhole(true)}>
      {more ? "Find a value" : `${hidden} more`}
    </button>
  );
}
