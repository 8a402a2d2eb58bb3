/** A laid out JSON text as a tree: which of its lines are open, the rows that shows, and their paths. */
import { rowEnd, shownEnd } from "./code.ts";
import { type JsonLayout, type JsonLine, LineKind } from "./json-layout.ts";
import type { Step, TypedValue } from "./language.ts";
import type { Slices } from "./slices.ts";

/** Containers are opened unasked until so many rows are shown. */
const openedRows = 80;

/** The lines that are open at first: what is outermost always, and as much below it as stays in sight. */
export function firstOpen(layout: JsonLayout): Uint8Array {
  const open = new Uint8Array(layout.length);
  let rows = 1;
  // Level by level, so that nothing is opened in the depth while its neighbours are closed.
  let level = [0];
  while (level.length > 0) {
    const next: number[] = [];
    for (const line of level) {
      if (layout.kind(line) !== LineKind.open) continue;
      if (line > 0 && rows + layout.members(line) > openedRows) continue;
      open[line] = 1;
      rows += layout.members(line);
      // Beyond that nothing is opened anyway.
      for (let child = line + 1; child < layout.last(line) && next.length < openedRows; child++) {
        next.push(child);
        child = layout.last(child);
      }
    }
    level = next;
  }
  return open;
}

export function withOpen(open: Uint8Array, lines: Iterable<number>, state: boolean): Uint8Array {
  const next = open.slice();
  for (const line of lines) next[line] = state ? 1 : 0;
  return next;
}

/** The containers from `line` on to its end, itself included. */
export function* containers(layout: JsonLayout, line: number): Generator<number> {
  const last = layout.last(line);
  for (let at = line; at < last; at++) if (layout.kind(at) === LineKind.open) yield at;
}

/** A row of the tree: a line, or the part of a long value from `from` on. */
export interface TreeRow {
  readonly line: number;
  readonly from: number;
  readonly to: number;
  /** The first and the last row of its line. */
  readonly starts: boolean;
  readonly ends: boolean;
}

export interface TreeRows {
  readonly length: number;
  at(row: number): TreeRow;
  /** The first row of a line, or of what is closed above it. */
  rowOf(line: number): number;
}

/** Rows laid out between two pauses. */
const sliceRows = 1000;
export const treeIndent = 2;
/** Columns that a row has besides its value: the arrow and room for a badge. */
const margin = 4;
/** Columns that a value has at least. */
const narrowest = 16;

/** Levels below `root` that indent; deeper ones say how deep they are instead. */
export function deepestIndent(columns: number): number {
  return Math.max(Math.floor(columns / 2 / treeIndent), 4);
}

/** The rows below and with `root`, of which only what is open is shown. */
export function* treeRows(
  text: string,
  layout: JsonLayout,
  open: Uint8Array,
  root: number,
  columns: number,
  whole: ReadonlySet<number>,
): Slices<TreeRows> {
  const lines: number[] = [];
  const parts: number[] = [];
  const deepest = deepestIndent(columns);
  const base = layout.at(root).depth;
  const last = layout.last(root);
  for (let line = root; line <= last; ) {
    const kind = layout.kind(line);
    if (kind === LineKind.close) {
      line++;
      continue;
    }
    if (lines.push(line) % sliceRows === 0) yield;
    const start = layout.valueStart(line);
    parts.push(start);
    // Most values are too short to be broken: no character takes more columns than a glyph.
    if ((layout.valueEnd(line) - start) * 6 > narrowest) {
      const at = layout.at(line);
      const indent = Math.min(at.depth - base, deepest) * treeIndent + margin;
      for (const from of breaks(text, at, shownEnd(text, at, whole.has(line)), columns - indent)) {
        if (lines.push(line) % sliceRows === 0) yield;
        parts.push(from);
      }
    }
    line = kind === LineKind.open && !open[line] ? layout.last(line) + 1 : line + 1;
  }
  return {
    length: lines.length,
    at(row) {
      const line = lines[row] ?? root;
      const at = layout.at(line);
      const ends = lines[row + 1] !== line;
      return {
        line,
        from: parts[row] ?? at.valueStart,
        to: ends ? shownEnd(text, at, whole.has(line)) : (parts[row + 1] ?? at.valueEnd),
        starts: lines[row - 1] !== line,
        ends,
      };
    },
    rowOf(line) {
      let low = 0;
      let high = lines.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((lines[middle] ?? 0) < line) low = middle + 1;
        else high = middle;
      }
      if (lines[low] === line) return low;
      // Closed above: the last shown line before it holds it.
      const holder = lines[low - 1] ?? root;
      let row = Math.max(low - 1, 0);
      while (row > 0 && lines[row - 1] === holder) row--;
      return row;
    },
  };
}

/** Where a value goes on in another row. */
function* breaks(text: string, line: JsonLine, end: number, room: number): Generator<number> {
  if (line.kind !== LineKind.string && line.kind !== LineKind.number) return;
  let width = Math.max(room - Math.max(line.keyEnd - line.keyStart, 0), narrowest);
  for (let i = line.valueStart; ; ) {
    const filled = rowEnd(text, i, end, width);
    if (filled >= end) return;
    i = atWord(text, i, filled);
    yield i;
    width = Math.max(room - treeIndent, narrowest);
  }
}

/** The end of a row behind the last space of it, where that leaves the row at least half full. */
function atWord(text: string, from: number, to: number): number {
  for (let i = to; i > from + (to - from) / 2; i--) if (text[i - 1] === " ") return i;
  return to;
}

/** What a JSON string's token says. */
export function stringOf(token: string): string {
  return String(JSON.parse(token));
}

/** The steps from the outermost value to a line. */
export function stepsTo(text: string, layout: JsonLayout, line: number): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let at = layout.at(line); at.parent >= 0; at = layout.at(at.parent)) {
    steps.push(at.keyStart < 0 ? at.ordinal : stringOf(text.slice(at.keyStart, at.keyEnd)));
  }
  return steps.reverse();
}

/** Steps to search by: of an array any element, as a position says little about a value. */
export function searchSteps(steps: readonly (string | number)[]): Step[] {
  return steps.map((step) => (typeof step === "number" ? { any: true } : step));
}

/** A leaf's value as it is searched for; undefined of a container. */
export function valueAt(text: string, line: JsonLine): TypedValue | undefined {
  const token = text.slice(line.valueStart, line.valueEnd);
  if (line.kind === LineKind.string) {
    const value = stringOf(token);
    return { kind: value === "" ? "empty" : "string", text: value };
  }
  if (line.kind === LineKind.number) return { kind: "number", text: token };
  if (line.kind === LineKind.literal) return { kind: token === "null" ? "null" : "boolean", text: token };
  return undefined;
}

/** The source of a line's value, with all that is in it. */
export function sourceOf(text: string, layout: JsonLayout, line: number): string {
  return text.slice(layout.at(line).valueStart, layout.at(layout.last(line)).valueEnd);
}
