import { type KeyboardEvent, useRef, useState } from "react";
import type { Field, Value } from "#/lib/search.ts";
import { isSeverity } from "#/lib/severity.ts";
import { elideMiddle, spelled } from "#/lib/visible.ts";
import { useKeysSwitch } from "#/ui/keys.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import type { MenuItem } from "#/ui/popover.tsx";
import { SeverityMark } from "#/ui/severity.tsx";
import { type OnValueAction, ValueActions } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";
import type { Pick } from "./picks.ts";

export interface FacetRow {
  readonly value: Value;
  readonly count: number;
  /** The count as it is told, with its limit. */
  readonly told: string;
  /** Of all, between 0 and 1. */
  readonly share: number;
  readonly pick: Pick;
}

interface FacetValuesProps {
  readonly field: Field;
  readonly rows: readonly FacetRow[];
  readonly onToggle: (value: Value) => void;
  readonly onAction: OnValueAction;
  readonly onCopy: (text: string, what: string) => void;
  /** How many characters a value and its count have room for. */
  readonly columns?: number;
  readonly menu?: readonly (readonly MenuItem[])[];
}

/**
 * The values of a field. One of them is in the tab order; arrows walk, Space and Enter pick, and the
 * keys of the list's cells do the same here.
 */
export function FacetValues({
  field,
  rows,
  onToggle,
  onAction,
  onCopy,
  columns = 23,
  menu,
}: FacetValuesProps) {
  const list = useRef<HTMLUListElement>(null);
  const [current, setCurrent] = useState(0);
  const { on } = useKeysSwitch();
  const narrow = useNarrow();
  const at = Math.min(current, Math.max(rows.length - 1, 0));

  const focus = (index: number) => {
    const to = Math.min(Math.max(index, 0), rows.length - 1);
    setCurrent(to);
    list.current?.querySelector<HTMLElement>(`[data-row="${to}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(event.target instanceof Element) || !event.target.matches("[data-row]")) return;
    const row = rows[at];
    if (!row) return;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1,
    };
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    const acts: Readonly<Record<string, () => void>> = {
      "+": () => onAction(field, row.value, "include"),
      "-": () => onAction(field, row.value, "exclude"),
      o: () => onAction(field, row.value, "only"),
      c: () => onCopy(textOf(row.value), field),
    };
    const act = on && Object.hasOwn(acts, event.key) ? acts[event.key] : undefined;
    if (move !== undefined) focus(move);
    else if (act) act();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <ul ref={list} aria-label={`Values of ${field}`} className="m-0 list-none p-0" onKeyDown={onKeyDown}>
      {rows.map((row, index) => (
        <li
          key={keyOf(row.value)}
          className="group/value relative flex h-11 items-center pr-3 hover:bg-hover focus-within:bg-hover wide:h-6"
        >
          <span
            aria-hidden="true"
            className={`absolute inset-y-1 left-7.5 rounded-[2px] wide:inset-y-0.5 ${row.pick === "in" ? "bg-accent-tint" : "bg-active"}`}
            style={{ width: `calc((100% - 42px) * ${row.share.toFixed(4)})` }}
          />
          <button
            type="button"
            role="checkbox"
            aria-checked={row.pick === "in"}
            aria-label={`${nameOf(row.value)}, ${row.told} events${row.pick === "out" ? ", excluded" : ""}`}
            aria-keyshortcuts="+ - o c"
            data-row={index}
            tabIndex={index === at ? 0 : -1}
            className="relative grid h-full min-w-0 flex-1 cursor-default grid-cols-[14px_minmax(0,1fr)_auto] items-center gap-2 pl-3 text-left -outline-offset-2 wide:group-hover/value:pr-12 wide:group-has-[[aria-expanded=true]]/value:pr-12"
            onFocus={() => setCurrent(index)}
            onClick={() => onToggle(row.value)}
          >
            <Mark pick={row.pick} />
            <span
              className={`flex min-w-0 items-center gap-1.5 ${row.pick === "out" ? "text-ink-2 line-through" : "text-ink"}`}
            >
              <ValueText
                field={field}
                value={row.value}
                columns={(narrow ? 36 : columns) - row.told.length}
              />
            </span>
            <span className="text-right t-11 text-ink-2">{row.told}</span>
          </button>
          {/* Behind the count, which makes room: neither is covered. */}
          <span className="flex items-center t-11 wide:invisible wide:absolute wide:inset-y-0 wide:right-3 wide:group-hover/value:visible wide:has-[[aria-expanded=true]]:visible">
            <ValueActions
              field={field}
              value={row.value}
              onAction={onAction}
              onCopy={onCopy}
              tabbable={false}
              compact
              boxed
              {...(menu && { more: menu })}
            />
          </span>
        </li>
      ))}
    </ul>
  );
}

function textOf(value: Value): string {
  return typeof value === "string" ? value : value.text;
}

function keyOf(value: Value): string {
  return typeof value === "string" ? `string ${value}` : `${value.kind} ${value.text}`;
}

function nameOf(value: Value): string {
  if (typeof value !== "string" && value.kind === "absent") return "absent";
  return textOf(value) === "" ? "empty text" : textOf(value);
}

function ValueText({ field, value, columns }: { field: Field; value: Value; columns: number }) {
  const text = textOf(value);
  if (typeof value !== "string" && value.kind === "absent") {
    return <i className="t-11 text-ink-2">absent</i>;
  }
  if (text === "") return <span className="mono-11 text-ink-2">""</span>;
  if (field === "severity" && isSeverity(text)) {
    return (
      <>
        <SeverityMark level={text} />
        <span className="t-12">{text}</span>
      </>
    );
  }
  return (
    <span className="cut mono-11" title={spelled(text)}>
      <Visible text={elideMiddle(text, Math.max(columns, 8))} />
    </span>
  );
}

/** Ticked, struck or empty. */
function Mark({ pick }: { pick: Pick }) {
  const look =
    pick === "in"
      ? "border-accent-fill bg-accent-fill text-on-accent"
      : pick === "out"
        ? "border-danger-fill bg-danger-fill text-on-danger"
        : "border-line-3 bg-surface";
  return (
    <span aria-hidden="true" className={`grid size-3.5 place-items-center rounded-[3px] border ${look}`}>
      {pick && (
        <svg
          aria-hidden="true"
          viewBox="0 0 10 10"
          className="size-2.5"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.75"
        >
          <path d={pick === "in" ? "m2 5.25 2 2 4-4.5" : "M2 5h6"} />
        </svg>
      )}
    </span>
  );
}
