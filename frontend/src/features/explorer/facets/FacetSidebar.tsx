import { type ReactNode, useRef, useState } from "react";
import { type Count, getFacets } from "#/api/oriel.gen.ts";
import { type Field, type Filter, listParams, type Search } from "#/lib/search.ts";
import { useFacetNames } from "#/ui/access.tsx";
import { Button } from "#/ui/controls.tsx";
import { SearchInput } from "#/ui/field.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { useSheet } from "#/ui/sheet.tsx";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { BoxFailed } from "../BoxFailed.tsx";
import { useBox } from "../useBox.ts";
import type { Run } from "../useRun.ts";
import { FacetGroup } from "./FacetGroup.tsx";
import { OtherFields } from "./OtherFields.tsx";
import { SampledGroup } from "./SampledGroup.tsx";
import type { Prefs } from "./useFacetPrefs.ts";
import { useFocusInside } from "./useFocusInside.ts";
import { useSettled } from "./useSettled.ts";

/** What the parts of the sidebar share. */
export interface Sidebar {
  readonly run: Run;
  readonly search: Search;
  readonly prefs: Prefs;
  /** How many events the search finds, where that was counted to the end. */
  readonly total: number | undefined;
  readonly onFilters: (filters: readonly Filter[]) => void;
  readonly onAction: OnValueAction;
  readonly onCopy: (text: string, what: string) => void;
  readonly onStatistics: (field: Field) => void;
  /** Something closed whose opener is gone. */
  readonly onFocusLost: () => void;
}

export interface FacetSidebarProps extends Sidebar {
  readonly count: Count | undefined;
  /** In one column it is a sheet over the page. */
  readonly onClose: () => void;
  /** There, what a filter is written by hand with. */
  readonly addFilter: ReactNode;
}

/** Fields in the order in which they stand, before any is pinned. */
const usual: readonly Field[] = ["severity", "source", "type", "subject"];

/** The fields of the events of the search with their values, each to be picked and kept out. */
export function FacetSidebar(props: FacetSidebarProps) {
  const { run, search, prefs } = props;
  const narrow = useNarrow();
  const names = useFacetNames();
  const [text, setText] = useState("");
  const find = useSettled(text.trim());
  const all = useBox("facets", run, { ...listParams(search), limit: 10 }, getFacets);

  const known = all.data?.facets.map(({ field }) => field) ?? names;
  const counted = [...usual, ...known.filter((field) => !usual.includes(field))];
  const first = prefs.pinned;
  const order = [...first, ...counted.filter((field) => !first.includes(field))];
  const called = (field: Field) => field.toLowerCase().includes(find.toLowerCase());
  const body = (
    <>
      <div className="sticky top-0 z-10 flex items-center gap-1 bg-surface px-3 pt-2 pb-1">
        <SearchInput
          label="Find a field or value"
          value={text}
          className="flex-1"
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || text === "") return;
            event.preventDefault();
            event.stopPropagation();
            setText("");
          }}
        />
        {!narrow && (
          <Button
            look="ghost"
            size="small"
            icon="left"
            aria-label="Hide the fields"
            title="Hide the fields"
            className="-mr-2"
            onClick={() => prefs.setHidden(true)}
          />
        )}
      </div>
      {all.error && !all.data ? (
        <div className="p-3">
          <BoxFailed what="Nothing was counted." box={all} error={all.error} onSnapshot={run.again} />
        </div>
      ) : !all.data && !all.reading ? (
        <p className="px-3 py-2 t-12 text-ink-3">Not counted: the search was not run.</p>
      ) : !all.data ? (
        <WaitingFields />
      ) : (
        order.map((field) =>
          counted.includes(field) ? (
            <FacetGroup
              key={field}
              field={field}
              all={all}
              find={find === "" || called(field) ? "" : find}
              sidebar={props}
            />
          ) : (
            (find === "" || called(field)) && <SampledGroup key={field} field={field} sidebar={props} />
          ),
        )
      )}
      {(all.data || !all.reading) && <OtherFields shown={order} find={find} sidebar={props} />}
    </>
  );
  if (narrow) return <Sheet {...props}>{body}</Sheet>;
  return (
    <aside
      aria-label="Fields"
      className="h-full scroll-pt-10 overflow-x-hidden overflow-y-auto overscroll-contain border-r border-line bg-surface [scrollbar-width:thin]"
    >
      {body}
    </aside>
  );
}

/** Nothing that stands in another place once there are values. */
function WaitingFields() {
  return (
    <div role="status" aria-label="Counting" className="px-3 pt-3">
      {usual.map((field) => (
        <div key={field} className="mb-7">
          {[30, 70, 62, 54, 46, 38].map((width) => (
            <span key={width} className="mb-4 block h-2 rounded-1 bg-active" style={{ width: `${width}%` }} />
          ))}
        </div>
      ))}
    </div>
  );
}

function Sheet({
  count,
  onClose,
  onFocusLost,
  addFilter,
  children,
}: FacetSidebarProps & { children: ReactNode }) {
  useSheet(true);
  const sheet = useRef<HTMLDivElement>(null);
  useFocusInside(sheet, onFocusLost);
  const limit = count?.relation === "exact" ? "" : count?.relation === "atLeast" ? "≥ " : "about ";
  return (
    <div
      ref={sheet}
      role="dialog"
      aria-modal="true"
      aria-label="Filters"
      tabIndex={-1}
      className="fixed inset-0 z-20 flex scroll-pt-14 flex-col overflow-y-auto overscroll-contain bg-surface outline-none fade-in"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || event.defaultPrevented) return;
        // It closes what floats over the sheet, and not the sheet.
        if (event.target instanceof Element && event.target.closest("dialog, [popover]")) return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <header className="flex items-center justify-between gap-2 px-4 py-2">
        <h2 className="t-16">Filters</h2>
        <span className="flex-1" />
        {addFilter}
        <Button onClick={onClose}>
          {count ? `Show ${limit}${count.value.toLocaleString("en")}` : "Show the events"}
        </Button>
      </header>
      {children}
    </div>
  );
}
