import { type KeyboardEvent, useRef, useState } from "react";
import { type ChipField, type Filter, fields, type Params, replaceFilter } from "#/lib/search.ts";
import { Button, buttonClass, Segments } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Popover } from "#/ui/popover.tsx";
import { severities } from "#/ui/severity.tsx";
import { Visible } from "#/ui/visible.tsx";

const chip =
  "inline-flex h-10 max-w-full flex-none items-center rounded-1 border bg-raised t-12 whitespace-nowrap wide:h-6 wide:flex-initial wide:min-w-0";

function operator(filter: Pick<Filter, "field" | "negated">): string {
  if (filter.field === "severity") return filter.negated ? "is below" : "at least";
  if (filter.field === "q") return "not with";
  return filter.negated ? "is not" : "is";
}

const fieldName = (field: ChipField) => (field === "q" ? "words" : field);

/** The filters of the search: each can be changed, turned round and removed where it stands. */
export function FilterChips({
  filters,
  unknown,
  covered,
  onChange,
  onUnknown,
}: {
  filters: readonly Filter[];
  /** Parameters of the URL that are no filter. */
  unknown: Params;
  /** A sheet lies over them. */
  covered: boolean;
  onChange: (filters: readonly Filter[]) => void;
  onUnknown: (unknown: Params) => void;
}) {
  const copy = useCopy();
  const narrow = useNarrow();
  if (narrow && filters.length === 0 && Object.keys(unknown).length === 0) return null;
  return (
    <div
      inert={covered}
      className="flex flex-none items-start border-b border-line bg-surface px-4 py-2 wide:px-3 wide:py-1.5"
    >
      <div
        role="toolbar"
        aria-label="Filters"
        className="flex min-w-0 flex-1 items-center gap-1.5 overflow-x-auto [scrollbar-width:none] wide:flex-wrap wide:overflow-visible"
      >
        {filters.map((filter) => (
          <Chip
            key={`${filter.field}${filter.negated}`}
            filter={filter}
            onChange={(next) => onChange(replaceFilter(filters, filter, next))}
          />
        ))}
        {Object.keys(unknown).map((name) => (
          <UnknownChip
            key={name}
            name={name}
            onRemove={() =>
              onUnknown(Object.fromEntries(Object.entries(unknown).filter(([key]) => key !== name)))
            }
          />
        ))}
        {!narrow && <AddFilter onAdd={(filter) => onChange(replaceFilter(filters, undefined, filter))} />}
      </div>
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
    </div>
  );
}

function Chip({ filter, onChange }: { filter: Filter; onChange: (next: Filter | undefined) => void }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const remove = () => {
    focusNext(box.current);
    onChange(undefined);
  };
  const { negated, values } = filter;
  const name = `${fieldName(filter.field)} ${operator(filter)} ${values.join(" or ")}`;
  return (
    <span className={`${chip} ${negated ? "border-error" : "border-line-2 hover:border-line-3"}`} ref={box}>
      <Popover
        label={`Filter: ${fieldName(filter.field)}`}
        open={open}
        onOpenChange={setOpen}
        trigger={{
          className: "-my-px flex h-10 min-w-0 items-center gap-1.25 pr-1 pl-2 wide:my-0 wide:h-full",
          "aria-label": `Change filter: ${name}`,
          onKeyDown: onDelete(remove),
          children: (
            <>
              <span className="text-ink-2">{fieldName(filter.field)}</span>{" "}
              <span className={negated ? "font-semibold text-error" : "text-ink-3"}>{operator(filter)}</span>{" "}
              <ChipValues values={values} />
            </>
          ),
        }}
      >
        <FilterForm
          initial={filter}
          submit="Change"
          onSubmit={(next) => {
            setOpen(false);
            onChange(next);
          }}
          onRemove={() => {
            setOpen(false);
            remove();
          }}
        />
      </Popover>
      <RemoveButton name={name} onRemove={remove} />
    </span>
  );
}

function onDelete(remove: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    event.preventDefault();
    remove();
  };
}

/** What is removed hands the focus to the chip after it, and the last one to “Filter”. */
function focusNext(chip: Element | null): void {
  const next = chip?.nextElementSibling;
  const target = next?.matches("button") ? next : next?.querySelector("button");
  if (target instanceof HTMLElement) target.focus();
}

const shownValues = 2;

function ChipValues({ values }: { values: readonly string[] }) {
  return (
    <span className="max-w-80 cut mono-12 text-ink">
      {values.slice(0, shownValues).map((value, index) => (
        <span key={value}>
          {index > 0 && <span className="text-ink-3"> or </span>}
          <Visible text={value} />
        </span>
      ))}
      {values.length > shownValues && <span className="text-ink-3"> +{values.length - shownValues}</span>}
    </span>
  );
}

function RemoveButton({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <button
      type="button"
      className="-my-px grid size-10 flex-none place-items-center text-ink-3 hover:text-ink wide:size-6"
      aria-label={`Remove filter: ${name}`}
      title="Remove (Delete)"
      onClick={onRemove}
      onKeyDown={onDelete(onRemove)}
    >
      <Icon name="close" small />
    </button>
  );
}

function UnknownChip({ name, onRemove }: { name: string; onRemove: () => void }) {
  const box = useRef<HTMLSpanElement>(null);
  const remove = () => {
    focusNext(box.current);
    onRemove();
  };
  return (
    <span
      ref={box}
      className={`${chip} border-error bg-error-tint`}
      title={`“${name}” is not a filter here and is ignored. Accepted: ${fields.join(", ")}, each also as “${fields[0]}!”, and q.`}
    >
      <span className="flex items-center gap-1.25 pr-1 pl-2">
        <span className="max-w-60 cut mono-12">
          <Visible text={name} />
        </span>
        <span className="text-error">unknown, ignored</span>
      </span>
      <RemoveButton name={name} onRemove={remove} />
    </span>
  );
}

/** In one column it stands beside the time window. */
export function AddFilter({ onAdd }: { onAdd: (filter: Filter) => void }) {
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
          : `${chip} gap-1 border-dashed border-line-2 bg-transparent pr-2 pl-1.5 text-ink-2 hover:text-ink`,
        children: (
          <>
            <Icon name="plus" small />
            Filter
          </>
        ),
      }}
    >
      <FilterForm
        initial={{ field: "type", negated: false, values: [] }}
        submit="Add"
        onSubmit={(filter) => {
          setOpen(false);
          onAdd(filter);
        }}
      />
    </Popover>
  );
}

const input = "w-full rounded-2 border border-line-3 bg-surface px-2 text-[16px]/5 wide:text-[12px]/4";

function FilterForm({
  initial,
  submit,
  onSubmit,
  onRemove,
}: {
  initial: Filter;
  submit: string;
  onSubmit: (filter: Filter) => void;
  onRemove?: () => void;
}) {
  const [field, setField] = useState<ChipField>(initial.field);
  const [negated, setNegated] = useState(initial.negated);
  const [text, setText] = useState(initial.values.join("\n"));
  const [level, setLevel] = useState(initial.field === "severity" ? (initial.values[0] ?? "error") : "error");
  const lines = text.split("\n").filter((line) => line !== "");
  const values = field === "severity" ? [level] : [...new Set(lines)];
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (values.length > 0) onSubmit({ field, negated, values });
      }}
    >
      <div className="flex items-center gap-2">
        <select
          value={field}
          aria-label="Field"
          className={`${input} h-11 min-w-0 flex-1 wide:h-7`}
          onChange={(event) => setField(event.currentTarget.value as ChipField)}
        >
          {fields.map((name) => (
            <option key={name}>{name}</option>
          ))}
          {initial.field === "q" && <option value="q">words</option>}
        </select>
        {field !== "q" && (
          <Segments
            label="Sense"
            value={negated ? "not" : "is"}
            options={[
              { value: "is", label: operator({ field, negated: false }) },
              { value: "not", label: operator({ field, negated: true }) },
            ]}
            onChange={(sense) => setNegated(sense === "not")}
          />
        )}
      </div>
      {field === "severity" ? (
        <select
          value={level}
          aria-label="Severity"
          className={`${input} h-11 wide:h-7`}
          onChange={(event) => setLevel(event.currentTarget.value)}
        >
          {severities.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      ) : (
        <label>
          <textarea
            value={text}
            rows={Math.min(Math.max(lines.length + 1, 3), 8)}
            spellCheck={false}
            autoCapitalize="off"
            aria-label="Values, one on each line"
            className={`${input} py-1.5 font-mono`}
            onChange={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
                event.currentTarget.form?.requestSubmit();
            }}
          />
          <span className="text-ink-3">One whole value on each line; any of them matches.</span>
        </label>
      )}
      <div className="flex justify-end gap-2">
        {onRemove && (
          <Button look="ghost" onClick={onRemove}>
            Remove
          </Button>
        )}
        <Button
          type="submit"
          look="primary"
          unavailable={values.length === 0 ? "Write a value first." : undefined}
        >
          {submit}
        </Button>
      </div>
    </form>
  );
}
