import { type ReactNode, useContext, useId, useRef } from "react";
import type { FieldList, FieldStatistics as Statistics } from "#/api/oriel.gen.ts";
import type { Field } from "#/lib/search.ts";
import { dateAndTime } from "#/lib/time.ts";
import { Button, outdatedClass } from "#/ui/controls.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { useSheet } from "#/ui/sheet.tsx";
import { FieldActionsContext } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { BoxFailed } from "../BoxFailed.tsx";
import type { Sidebar } from "./FacetSidebar.tsx";
import { FacetValues } from "./FacetValues.tsx";
import { WaitingValues } from "./GroupFrame.tsx";
import { toggled } from "./picks.ts";
import { useFocusInside } from "./useFocusInside.ts";
import { isWhole, percent, rowsOfField, useStatistics } from "./useStatistics.ts";

/** What one field holds among the events of the search, beside the list that goes on below it. */
export function FieldStatistics({
  field,
  sidebar,
  onSplit,
  onClose,
}: {
  field: Field;
  sidebar: Sidebar;
  /** Splits the bars by the field; undefined where they cannot be. */
  onSplit: (() => void) | undefined;
  onClose: () => void;
}) {
  const { run, search, prefs } = sidebar;
  const box = useStatistics(run, search, field);
  const narrow = useNarrow();
  useSheet(narrow);
  const title = useId();
  const panel = useRef<HTMLDivElement>(null);
  useFocusInside(panel, sidebar.onFocusLost);
  const statistics = box.data?.fields[0];
  const pinned = prefs.pinned.includes(field);
  return (
    <div
      ref={panel}
      role="dialog"
      aria-modal={narrow ? true : undefined}
      aria-labelledby={title}
      tabIndex={-1}
      className={`fixed inset-0 z-30 flex flex-col overflow-y-auto bg-raised outline-none fade-in wide:absolute wide:inset-auto wide:top-2 wide:max-h-[calc(100%-16px)] wide:w-96 wide:rounded-3 wide:shadow-pop ${prefs.hidden ? "wide:left-2" : "wide:left-56"}`}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <header className="sticky top-0 z-10 flex items-center gap-1 border-b border-line bg-raised py-1.5 pr-2 pl-3">
        <h2 id={title} className="min-w-0 flex-1 cut mono-12 font-semibold">
          <span className="sr-only">Statistics of </span>
          <Visible text={field} />
        </h2>
        <ColumnButton field={field} />
        {onSplit && (
          <Button look="ghost" size="small" title="Split the bars of the histogram by it" onClick={onSplit}>
            Split
          </Button>
        )}
        <Button
          look="ghost"
          size="small"
          icon="pin"
          aria-pressed={pinned}
          className={pinned ? "text-accent!" : ""}
          title={pinned ? "No longer keep on top" : "Keep its values on top of the sidebar"}
          onClick={() => prefs.setPinned(field, !pinned)}
        >
          {pinned ? "Pinned" : "Pin"}
        </Button>
        <Button
          look="ghost"
          size="small"
          icon="close"
          aria-label="Close"
          title="Close (Esc)"
          onClick={onClose}
        />
      </header>
      {box.error ? (
        <div className="p-3">
          <BoxFailed what="Not counted." box={box} error={box.error} onSnapshot={run.again} />
        </div>
      ) : !box.data || !statistics ? (
        <WaitingValues count={6} />
      ) : (
        <Body
          list={box.data}
          statistics={statistics}
          sidebar={sidebar}
          outdated={box.outdated}
          field={field}
        />
      )}
    </div>
  );
}

/** Makes the field a column of the list, or takes it away. */
function ColumnButton({ field }: { field: Field }) {
  const actions = useContext(FieldActionsContext);
  if (!actions) return null;
  const shown = actions.hasColumn(field);
  return (
    <Button
      look="ghost"
      size="small"
      icon="panel"
      aria-pressed={shown}
      className={shown ? "text-accent!" : ""}
      title={shown ? "Remove the column" : "Show it as a column of the list"}
      unavailable={shown ? undefined : actions.full}
      onClick={() => (shown ? actions.removeColumn(field) : actions.addColumn(field))}
    >
      Column
    </Button>
  );
}

function Body({
  list,
  statistics,
  sidebar,
  outdated,
  field,
}: {
  list: FieldList;
  statistics: Statistics;
  sidebar: Sidebar;
  outdated: boolean;
  field: Field;
}) {
  const zone = useZone();
  const { search, onFilters, onAction, onCopy } = sidebar;
  const whole = isWhole(statistics);
  const { present, distinct, distinctRelation, kinds, least, most, firstSeen, lastSeen } = statistics;
  const n = (count: number) => count.toLocaleString("en");
  const rows = rowsOfField(list, statistics, search);
  return (
    <div className={outdated ? outdatedClass : ""} aria-busy={outdated}>
      <p className="px-3 pt-2 t-12 text-ink-2">
        {whole ? (
          <>Of all {n(list.sample)} events of the search.</>
        ) : (
          <>
            <b className="font-semibold text-ink">Sample of the newest {n(list.sample)} events</b>, since{" "}
            {dateAndTime(list.covered.from, zone, 0)}.
          </>
        )}
      </p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 px-3 py-1.5 t-12">
        <Fact name="Present">
          {n(present)} · {percent(present, list.sample, !whole)}
        </Fact>
        <Fact name="Distinct values">{distinctRelation === "exact" ? n(distinct) : `≥ ${n(distinct)}`}</Fact>
        {kinds.length > 0 && <Fact name={kinds.length === 1 ? "Kind" : "Kinds"}>{kinds.join(", ")}</Fact>}
        {least !== undefined && (
          <Fact name="Smallest number" mono>
            {least}
          </Fact>
        )}
        {most !== undefined && (
          <Fact name="Largest number" mono>
            {most}
          </Fact>
        )}
        {firstSeen && (
          <Fact name="First seen" mono>
            {dateAndTime(firstSeen, zone)}
          </Fact>
        )}
        {lastSeen && (
          <Fact name="Last seen" mono>
            {dateAndTime(lastSeen, zone)}
          </Fact>
        )}
      </dl>
      <h3 className="border-t border-line px-3 pt-2 pb-1 t-12 font-semibold">
        {rows.length === 0
          ? "No values"
          : `${n(rows.length)} most frequent ${rows.length === 1 ? "value" : "values"}`}
      </h3>
      <div className="pb-2">
        <FacetValues
          field={field}
          rows={rows}
          columns={34}
          onToggle={(value) => onFilters(toggled(search.filters, field, value))}
          onAction={onAction}
          onCopy={onCopy}
        />
      </div>
    </div>
  );
}

function Fact({ name, mono = false, children }: { name: string; mono?: boolean; children: ReactNode }) {
  return (
    <>
      <dt className="py-0.5 text-ink-3">{name}</dt>
      <dd className={`py-0.5 wrap-anywhere ${mono ? "mono-12" : ""}`}>{children}</dd>
    </>
  );
}
