import type { ReactNode } from "react";
import type { Count } from "#/api/oriel.gen.ts";
import type { Field } from "#/lib/search.ts";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { FacetSidebarPart, FieldStatisticsPart } from "../parts.ts";
import type { Box } from "../useBox.ts";
import type { Sidebar } from "./FacetSidebar.tsx";

/**
 * How many events there are, where they were counted to the end. While they are counted anew the last
 * number holds, as the values' do: what is measured by it keeps its scale.
 */
export function countedOf({ data }: Box<Count>): number | undefined {
  return data?.relation === "exact" ? data.value : undefined;
}

/** The column of the fields, as wide before its code comes as with it; in one column a sheet. */
export function FieldsSlot({
  due,
  sidebar,
  total,
  covered,
  open,
  onClose,
  addFilter,
}: {
  /** The first rows are there: its code may come. */
  due: boolean;
  sidebar: Sidebar;
  total: Box<Count>;
  covered: boolean;
  /** The sheet is. */
  open: boolean;
  onClose: () => void;
  addFilter: ReactNode;
}) {
  const narrow = useNarrow();
  const { hidden } = sidebar.prefs;
  const part = (
    <FacetSidebarPart
      {...sidebar}
      count={total.outdated ? undefined : total.data}
      onClose={onClose}
      addFilter={addFilter}
      failed={({ retry }) => (
        <p className="p-3 t-12 text-ink-2">
          The code of the fields did not come.{" "}
          <Button look="ghost" size="small" onClick={retry}>
            Try again
          </Button>
        </p>
      )}
    />
  );
  if (narrow) return open && part;
  return (
    <div inert={covered} className={hidden ? "" : "min-h-0 w-54 bg-surface"}>
      {!hidden && due && part}
    </div>
  );
}

/** In one column: opens the sheet of the fields, and says how many filters there are. */
export function FiltersButton({ count, open, onOpen }: { count: number; open: boolean; onOpen: () => void }) {
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      aria-expanded={open}
      className={buttonClass("plain", "large")}
      onClick={onOpen}
    >
      <Icon name="filter" />
      Filters
      {count > 0 && <span className="rounded-full bg-active px-1.5 t-11">{count}</span>}
    </button>
  );
}

/** Where the column is hidden: what shows it. */
export function ShowFields({ prefs }: Pick<Sidebar, "prefs">) {
  const narrow = useNarrow();
  if (narrow || !prefs.hidden) return null;
  return (
    <Button
      look="ghost"
      size="small"
      icon="panel"
      className="-ml-2"
      title="Show the fields"
      onClick={() => prefs.setHidden(false)}
    >
      Fields
    </Button>
  );
}

/** The statistics of the field that was asked about. */
export function StatisticsSlot({
  field,
  sidebar,
  splitFields,
  onSplit,
  onClose,
}: {
  field: Field | undefined;
  sidebar: Sidebar;
  splitFields: readonly Field[];
  onSplit: (field: Field) => void;
  onClose: () => void;
}) {
  if (field === undefined) return null;
  return (
    <FieldStatisticsPart
      key={field}
      field={field}
      sidebar={sidebar}
      onSplit={splitFields.includes(field) ? () => onSplit(field) : undefined}
      onClose={onClose}
      failed={({ retry }) => (
        <p className="absolute top-2 left-2 z-30 rounded-3 bg-raised p-3 t-12 shadow-pop" role="alert">
          The code of the statistics did not come.{" "}
          <Button look="ghost" size="small" onClick={retry}>
            Try again
          </Button>
          <Button look="ghost" size="small" onClick={onClose}>
            Close
          </Button>
        </p>
      )}
    />
  );
}
