import { useId, useRef, useState } from "react";
import { listFields } from "#/api/oriel.gen.ts";
import { type Density, densities, type Field, listParams, type Search } from "#/lib/search.ts";
import { spelled } from "#/lib/visible.ts";
import { Button, Segments } from "#/ui/controls.tsx";
import { inputClass } from "#/ui/field.tsx";
import { Visible } from "#/ui/visible.tsx";
import { BoxFailed } from "../BoxFailed.tsx";
import { isColumn } from "../cells.ts";
import { clampWidth, columnTitle, columnWidth, narrowestColumn, widestColumn } from "../columns.ts";
import { useSettled } from "../facets/useSettled.ts";
import { useBox } from "../useBox.ts";
import type { Columns } from "../useColumns.ts";
import type { Run } from "../useRun.ts";

const densityWords: Readonly<Record<Density, string>> = { dense: "Dense", normal: "Normal", roomy: "Roomy" };

const always: readonly Field[] = [
  ...["time", "ingestTime", "severity", "type", "source", "subject", "summary", "id", "trace"],
  "datacontenttype",
];

/** Which columns the list has, in what order and how wide; everything here works with the keyboard. */
export function ColumnsPanel({
  columns,
  search,
  run,
  facets,
  narrow,
  onDensity,
}: {
  columns: Columns;
  search: Search;
  run: Run;
  facets: readonly Field[];
  narrow: boolean;
  onDensity: (density: Density | undefined) => void;
}) {
  const list = useRef<HTMLUListElement>(null);
  const { shown } = columns;
  // The button that was pressed may be gone: the focus stays in the list.
  const refocus = (field: Field, action: string) =>
    requestAnimationFrame(() => {
      const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
      const twin = buttons.find((button) => button.dataset.column === field && button.dataset.act === action);
      (twin ?? buttons[0])?.focus();
    });
  return (
    <div className="t-12">
      <h3 className="px-2 pt-1 pb-1 font-semibold">Columns</h3>
      <ul ref={list} aria-label="Columns" className="m-0 max-h-72 list-none overflow-y-auto p-0">
        {shown.map((column, index) => {
          const { field } = column;
          const title = columnTitle(field);
          const act = (name: string) => ({ "data-column": field, "data-act": name });
          return (
            <li key={field} className="flex h-11 items-center gap-1 pr-1 pl-2 hover:bg-hover wide:h-7">
              <span
                className={`min-w-0 flex-1 cut ${title === field ? "mono-12" : ""}`}
                title={spelled(field)}
              >
                <Visible text={title} />
              </span>
              {!narrow && (
                <WidthInput
                  key={column.width}
                  title={title}
                  width={column.width}
                  usual={columnWidth({ field })}
                  onWidth={(width) => columns.resize(field, width)}
                />
              )}
              <Button
                look="ghost"
                size="small"
                icon="up"
                aria-label={`Move ${title} up`}
                unavailable={index === 0 ? "It is the first." : undefined}
                {...act("up")}
                onClick={() => {
                  columns.move(field, index - 1);
                  refocus(field, "up");
                }}
              />
              <Button
                look="ghost"
                size="small"
                icon="down"
                aria-label={`Move ${title} down`}
                unavailable={index === shown.length - 1 ? "It is the last." : undefined}
                {...act("down")}
                onClick={() => {
                  columns.move(field, index + 1);
                  refocus(field, "down");
                }}
              />
              <Button
                look="ghost"
                size="small"
                icon="close"
                aria-label={`Remove column ${title}`}
                unavailable={shown.length === 1 ? "One column stays." : undefined}
                {...act("remove")}
                onClick={() => {
                  columns.remove(field);
                  refocus(shown[index + 1]?.field ?? shown[index - 1]?.field ?? "", "remove");
                }}
              />
            </li>
          );
        })}
      </ul>
      <AddColumn columns={columns} search={search} run={run} facets={facets} />
      <div className="mt-2 flex flex-wrap items-center gap-2 border-t border-line px-2 pt-2">
        {/* Under a finger rows have one height. */}
        {!narrow && (
          <>
            <span className="text-ink-2">Rows</span>
            <Segments
              label="Rows"
              value={search.density ?? "normal"}
              options={densities.map((value) => ({ value, label: densityWords[value] }))}
              onChange={(density) => onDensity(density === "normal" ? undefined : density)}
            />
          </>
        )}
        <span className="flex-1" />
        <Button
          size="small"
          look="ghost"
          unavailable={search.columns ? undefined : "These are the usual columns."}
          onClick={columns.reset}
        >
          Usual columns
        </Button>
      </div>
    </div>
  );
}

function WidthInput({
  title,
  width,
  usual,
  onWidth,
}: {
  title: string;
  width: number | undefined;
  usual: number;
  onWidth: (width: number | undefined) => void;
}) {
  const [text, setText] = useState(width === undefined ? "" : String(width));
  const take = () => {
    const next = /^\d{1,4}$/.test(text) ? clampWidth(Number(text)) : undefined;
    setText(next === undefined ? "" : String(next));
    if (next !== width) onWidth(next);
  };
  return (
    <input
      type="number"
      min={narrowestColumn}
      max={widestColumn}
      step={8}
      value={text}
      placeholder={String(usual)}
      aria-label={`Width of ${title} in pixels`}
      title="Width in pixels; empty is the usual one"
      className={`h-5.5 w-17! flex-none px-1.5! text-right tabular-nums ${inputClass()}`}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === "Enter") take();
      }}
    />
  );
}

/** How many fields are offered at once. */
const offered = 50;

function AddColumn({
  columns,
  search,
  run,
  facets,
}: {
  columns: Columns;
  search: Search;
  run: Run;
  facets: readonly Field[];
}) {
  const [text, setText] = useState("");
  const wanted = useSettled(text.trim());
  const hint = useId();
  const params = { ...listParams(search), limit: offered, ...(wanted !== "" && { contains: wanted }) };
  const box = useBox("fields", run, params, listFields);
  const typed = text.trim();
  const names = new Set([...always, ...facets, ...(box.data?.fields ?? []).map(({ field }) => field)]);
  const choices = [...names].filter(
    (field) =>
      !columns.has(field) && (field.includes(typed) || columnTitle(field).toLowerCase().includes(typed)),
  );
  const asTyped = typed !== "" && !names.has(typed) && isColumn(typed, facets);
  const add = (field: Field) => {
    columns.add(field);
    setText("");
  };
  // What is seen goes before a path that only might be there, which stays in the list.
  const seen = choices.find((field) => field === typed) ?? choices.find((field) => field.startsWith(typed));
  const first = seen ?? (asTyped ? typed : choices[0]);
  const listed = new Set(typed === "" ? choices : [first ?? typed, ...(asTyped ? [typed] : []), ...choices]);
  return (
    <div className="mt-2 border-t border-line px-2 pt-2">
      <label>
        <span className="sr-only">Add a column</span>
        <input
          data-autofocus=""
          value={text}
          aria-describedby={hint}
          placeholder="Field, ext.name or data.path"
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          className={`h-11 font-mono wide:h-7 ${inputClass()}`}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
            event.preventDefault();
            if (first !== undefined && typed !== "" && !columns.full && !columns.has(first)) add(first);
          }}
        />
      </label>
      <p id={hint} aria-live="polite" className="min-h-5 pt-1 t-11 text-ink-3">
        {hintOf(columns, typed, first, box.data?.sample)}
      </p>
      {box.error && (
        <BoxFailed
          what="Fields of the data are not listed."
          box={box}
          error={box.error}
          onSnapshot={run.again}
        />
      )}
      <ul aria-label="Fields" className="m-0 h-40 list-none overflow-y-auto p-0">
        {[...listed].map((field) => (
          <li key={field}>
            <Button
              look="ghost"
              size="small"
              className="w-full justify-start"
              unavailable={columns.full}
              onClick={() => add(field)}
            >
              <span className={`cut ${columnTitle(field) === field ? "mono-12" : ""}`}>
                <Visible text={columnTitle(field)} />
              </span>
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function hintOf(
  columns: Columns,
  typed: string,
  first: Field | undefined,
  sample: number | undefined,
): string {
  if (columns.full) return columns.full;
  if (typed !== "" && columns.has(typed)) return `${columnTitle(typed)} is a column already.`;
  if (typed !== "" && first === undefined) return `There is no field ${typed}.`;
  if (typed !== "") return `Enter adds ${columnTitle(first ?? typed)}.`;
  return sample === undefined ? "" : `Fields of the newest ${sample.toLocaleString("en")} events.`;
}
