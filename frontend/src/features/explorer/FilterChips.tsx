import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import {
  type Field,
  type Filter,
  fields,
  filterName,
  type Params,
  pinned,
  replaceFilter,
  type Search,
  usualFacets,
} from "#/lib/search.ts";
import { dateAndTime } from "#/lib/time.ts";
import { spelled } from "#/lib/visible.ts";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Popover } from "#/ui/popover.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { Chip, chipClass, NoteChip } from "./chips/Chip.tsx";
import { FilterFormPart } from "./parts.ts";

type Arrival = Pick<Search, "arrivedFrom" | "arrivedUntil">;

/** The filters of the search: each can be changed, turned round and removed where it stands. */
export function FilterChips({
  filters,
  unknown,
  arrival = {},
  facets = usualFacets,
  covered,
  actions,
  onChange,
  onUnknown,
  onArrival,
}: {
  filters: readonly Filter[];
  /** Parameters of the URL that are no filter. */
  unknown: Params;
  /** When the events were stored, where that is asked for. */
  arrival?: Partial<Arrival>;
  facets?: readonly Field[];
  /** A sheet lies over them. */
  covered: boolean;
  /** What can be done with the whole search. */
  actions?: ReactNode;
  onChange: (filters: readonly Filter[]) => void;
  onUnknown: (unknown: Params) => void;
  onArrival?: (arrival: Arrival) => void;
}) {
  const narrow = useNarrow();
  const bar = useRef<HTMLDivElement>(null);
  const follow = useFollowed(bar);
  const arrived = arrival.arrivedFrom !== undefined || arrival.arrivedUntil !== undefined;
  if (narrow && filters.length === 0 && Object.keys(unknown).length === 0 && !arrived) return null;
  return (
    <div
      inert={covered}
      className="flex flex-none items-start border-b border-line bg-surface px-4 pt-1 pb-2 wide:px-3 wide:pt-0.5 wide:pb-1.5 short:pt-0 short:pb-1"
    >
      <div
        ref={bar}
        role="toolbar"
        aria-label="Filters"
        className="flex min-w-0 flex-1 items-center gap-1.5 overflow-x-auto [scrollbar-width:none] wide:flex-wrap wide:overflow-visible"
      >
        {filters.map((filter) => (
          <Chip
            key={keyOf(filter)}
            id={keyOf(filter)}
            filter={filter}
            facets={facets}
            onChange={(next) => {
              if (next) follow(keyOf(next));
              onChange(replaceFilter(filters, filter, next));
            }}
          />
        ))}
        {arrived && onArrival && <ArrivalChip arrival={arrival} onArrival={onArrival} />}
        {Object.keys(unknown).map((name) => (
          <NoteChip
            key={name}
            name={name}
            look="error"
            title={`“${spelled(name)}” is not a filter here and is ignored. Accepted: ${[...fields, ...facets].join(", ")}, ext.<name>, data.<path>, each also as “${fields[0]}!”, and q.`}
            onRemove={() =>
              onUnknown(Object.fromEntries(Object.entries(unknown).filter(([key]) => key !== name)))
            }
          >
            <span className="max-w-60 cut mono-12">
              <Visible text={name} />
            </span>
            <span className="text-error">unknown, ignored</span>
          </NoteChip>
        ))}
        {!narrow && (
          <AddFilter
            facets={facets}
            onAdd={(filter) => onChange(replaceFilter(filters, undefined, filter))}
          />
        )}
        {filters.length > 1 && <ClearFilters filters={filters} onChange={onChange} />}
      </div>
      {actions ?? <CopyLink />}
    </div>
  );
}

/** A filter that changes its sense is another chip, which has the focus of the one that it was. */
function useFollowed(bar: RefObject<HTMLElement | null>): (id: string) => void {
  const wanted = useRef<string>(undefined);
  useEffect(() => {
    if (wanted.current === undefined) return;
    const chips = bar.current?.querySelectorAll<HTMLElement>("[data-chip]") ?? [];
    const chip = [...chips].find(({ dataset }) => dataset.chip === wanted.current);
    if (!chip) return;
    wanted.current = undefined;
    if (document.activeElement === document.body) chip.querySelector("button")?.focus();
  });
  return (id) => {
    wanted.current = bar.current?.contains(document.activeElement) ? id : undefined;
  };
}

function keyOf(filter: Filter): string {
  const name = filterName(filter);
  // Excluded queries are filters of their own.
  return `${filter.disabled ? "off " : ""}${filter.field === "q" ? `${name}=${filter.values[0]}` : name}`;
}

function ClearFilters({
  filters,
  onChange,
}: {
  filters: readonly Filter[];
  onChange: (filters: readonly Filter[]) => void;
}) {
  const kept = pinned(filters);
  if (kept.length === filters.length) return null;
  return (
    <Button
      look="ghost"
      size="small"
      title={kept.length > 0 ? `The ${kept.length} pinned stay.` : undefined}
      onClick={() => onChange(kept)}
    >
      Clear
    </Button>
  );
}

function ArrivalChip({
  arrival: { arrivedFrom, arrivedUntil },
  onArrival,
}: {
  arrival: Partial<Arrival>;
  onArrival: (arrival: Arrival) => void;
}) {
  const zone = useZone();
  const shown = (bound: string) => (Number.isNaN(Date.parse(bound)) ? bound : dateAndTime(bound, zone));
  const words = [
    arrivedFrom && `from ${shown(arrivedFrom)}`,
    arrivedUntil && `until ${shown(arrivedUntil)}`,
  ].filter(Boolean);
  return (
    <NoteChip
      name={`stored ${words.join(" ")}`}
      look="plain"
      title="By when Oriel stored an event, whatever time it names itself."
      onRemove={() => onArrival({ arrivedFrom: undefined, arrivedUntil: undefined })}
    >
      <span className="text-ink-2">stored</span>
      <span className="max-w-80 cut mono-12">
        <Visible text={words.join(" ")} />
      </span>
    </NoteChip>
  );
}

function CopyLink() {
  const copy = useCopy();
  return (
    <Button
      look="ghost"
      size="small"
      icon="link"
      className="ml-2 max-wide:hidden"
      title="Copy the address of this view"
      onClick={() => copy(location.href, "the link")}
    >
      Link
    </Button>
  );
}

const addFilterId = "add-filter";

/** In one column it stands beside the time window. */
export function AddFilter({
  facets = usualFacets,
  onAdd,
}: {
  facets?: readonly Field[];
  onAdd: (filter: Filter) => void;
}) {
  const [open, setOpen] = useState(false);
  const narrow = useNarrow();
  return (
    <Popover
      label="Add a filter"
      open={open}
      onOpenChange={setOpen}
      trigger={{
        className: narrow
          ? buttonClass("plain", "large")
          : `${chipClass} gap-1 border-dashed border-line-2 bg-transparent pr-2 pl-1.5 text-ink-2 hover:text-ink`,
        "aria-keyshortcuts": "Alt+F",
        title: "Add a filter (Alt F)",
        id: addFilterId,
        children: (
          <>
            <Icon name="plus" small />
            Filter
          </>
        ),
      }}
    >
      <FilterFormPart
        initial={{ field: "type", negated: false, values: [] }}
        facets={facets}
        submit="Add"
        failed={() => <p className="p-2 text-error">The form could not be loaded.</p>}
        onSubmit={(filter) => {
          setOpen(false);
          onAdd(filter);
        }}
      />
    </Popover>
  );
}

/** Alt F opens the form for a new filter, from wherever the focus is. */
export function useAddFilterKey(): void {
  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      const plain = event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
      if (!plain || event.code !== "KeyF") return;
      const button = document.getElementById(addFilterId);
      if (!button || button.closest("[inert]")) return;
      event.preventDefault();
      button.click();
    };
    window.addEventListener("keydown", open);
    return () => window.removeEventListener("keydown", open);
  }, []);
}
