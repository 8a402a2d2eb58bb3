/** What a key does in the tree, and what a row's actions are about. */
import { longestString } from "#/lib/code.ts";
import { type JsonLayout, LineKind } from "#/lib/json-layout.ts";
import { searchSteps, sourceOf, stepsTo, type TreeRows, valueAt } from "#/lib/json-tree.ts";
import { dataField, type Field, type TypedValue, type ValueAction, writtenValue } from "#/lib/search.ts";

export type TreeAct =
  | { readonly kind: "move"; readonly line: number }
  | { readonly kind: "toggle" | "more" | "menu" | "copy" }
  | { readonly kind: "action"; readonly action: ValueAction };

const actions: Readonly<Record<string, ValueAction>> = { "+": "include", "-": "exclude", o: "only" };

export function treeKeys({
  layout,
  rows,
  open,
  line,
  key,
}: {
  layout: JsonLayout;
  rows: TreeRows;
  open: Uint8Array;
  line: number;
  key: string;
}): TreeAct | undefined {
  const { kind, parent, valueStart, valueEnd } = layout.at(line);
  const container = kind === LineKind.open;
  switch (key) {
    case "ArrowDown":
      return { kind: "move", line: neighbour(rows, line, 1) };
    case "ArrowUp":
      return { kind: "move", line: neighbour(rows, line, -1) };
    case "ArrowRight":
      return container && !open[line] ? { kind: "toggle" } : { kind: "move", line: neighbour(rows, line, 1) };
    case "ArrowLeft":
      if (container && open[line]) return { kind: "toggle" };
      return { kind: "move", line: line === rows.at(0).line ? line : Math.max(parent, 0) };
    case "Home":
      return { kind: "move", line: rows.at(0).line };
    case "End":
      return { kind: "move", line: rows.at(rows.length - 1).line };
    case "Enter":
    case " ":
      if (container) return { kind: "toggle" };
      if (kind === LineKind.string && valueEnd - valueStart > longestString && key === " ")
        return { kind: "more" };
      return { kind: "menu" };
    case "ContextMenu":
      return { kind: "menu" };
    case "c":
      return { kind: "copy" };
    default: {
      const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
      return action && { kind: "action", action };
    }
  }
}

/** The line shown next to one; rows of a long value are one. */
function neighbour(rows: TreeRows, line: number, by: 1 | -1): number {
  for (let row = rows.rowOf(line) + by; row >= 0 && row < rows.length; row += by) {
    const next = rows.at(row).line;
    if (next !== line) return next;
  }
  return line;
}

export interface Leaf {
  /** The place of just this value, as the query language writes it. */
  readonly path: Field;
  /** Of a string what it says, of anything else its source. */
  readonly copied: string;
  /** What a search by it asks for; undefined where there is none. */
  readonly search: { readonly field: Field; readonly value: TypedValue } | undefined;
  /** Why there is none; undefined also of containers. */
  readonly why: string | undefined;
}

/** The server takes no more of one value and of one name. */
const longestValue = 1024;
const longestPath = 1024;

export function leafOf(
  text: string,
  layout: JsonLayout,
  line: number,
  unsearchable: string | undefined,
): Leaf {
  const steps = stepsTo(text, layout, line);
  const path = dataField(steps);
  const value = valueAt(text, layout.at(line));
  if (!value) return { path, copied: sourceOf(text, layout, line), search: undefined, why: undefined };
  const field = dataField(searchSteps(steps));
  const why =
    unsearchable ??
    (bytes(field) > longestPath ? "The path is too long to search by." : undefined) ??
    (bytes(writtenValue(field, value)) > longestValue ? "The value is too long to search for." : undefined);
  return { path, copied: value.text, search: why === undefined ? { field, value } : undefined, why };
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}
