/**
 * Documents of the data view: text cut into rows of a fixed number of columns, so that a megabyte in
 * one line, half a million short lines and 500 levels of nesting all cost only the rows on screen.
 */
import { type JsonLayout, type JsonLine, LineKind } from "./json-layout.ts";
import type { Slices } from "./slices.ts";
import { cellAt, glyphOf, pieces } from "./visible.ts";

export type FragmentKind =
  | "text"
  | "key"
  | "string"
  | "number"
  | "literal"
  | "punct"
  | "glyph"
  | "escape"
  | "dim"
  | "break"
  | "duplicate"
  | "exact"
  | "more";

export interface Fragment {
  readonly kind: FragmentKind;
  readonly text: string;
  /** Offset in the document's source of what is shown; -1 where nothing of the source is. */
  readonly start: number;
  /** Units of the source that it stands for. */
  readonly units: number;
}

export interface CodeDocument {
  readonly rows: number;
  row(index: number): readonly Fragment[];
  /** The source between two offsets, which is what a copied selection holds. */
  readonly slice: (from: number, to: number) => string;
}

/** A longer string shows its beginning until all of it is asked for. */
export const longestString = 8192;
/** As much of a longer one is shown. */
export const stringStart = 240;

/** Rows laid out between two pauses. */
const sliceRows = 400;

/** The end of the row that starts at `from`, at a line break or where the columns are used up. */
export function rowEnd(text: string, from: number, to: number, columns: number): number {
  let used = 0;
  let i = from;
  while (i < to) {
    if (text.charCodeAt(i) === 0x0a) return i + 1;
    const cell = cellAt(text, i);
    used += cell.columns;
    if (used > columns && i > from) return i;
    i += cell.units;
  }
  return i;
}

export function cut(text: string, from: number, to: number, kind: FragmentKind): Fragment[] {
  return pieces(text, from, to).flatMap((piece): Fragment[] => {
    if (piece.glyph) return [{ ...piece, kind: "glyph" }];
    return kind === "string" || kind === "key"
      ? markEscapes(text, piece.start, piece.start + piece.units, kind)
      : [{ ...piece, kind }];
  });
}

/** Of a JSON string: escapes of what would show nothing, or is half a character, stand out. */
function markEscapes(text: string, from: number, to: number, kind: FragmentKind): Fragment[] {
  const fragments: Fragment[] = [];
  let run = from;
  const flush = (end: number) => {
    if (end > run) fragments.push({ kind, text: text.slice(run, end), start: run, units: end - run });
  };
  for (let i = text.indexOf("\\", from + (backslashesBefore(text, from) % 2)); i >= 0 && i < to; ) {
    const units = hiddenEscape(text, i);
    if (units > 0 && i + units <= to) {
      flush(i);
      fragments.push({ kind: "escape", text: text.slice(i, i + units), start: i, units });
      run = i + units;
    }
    i = text.indexOf("\\", i + (units || 2));
  }
  flush(to);
  return fragments;
}

function backslashesBefore(text: string, from: number): number {
  let n = 0;
  while (text.charCodeAt(from - 1 - n) === 0x5c) n++;
  return n;
}

/** The units of an escape of something that cannot be seen; 0 of any other. */
function hiddenEscape(text: string, at: number): number {
  const code = escaped(text, at);
  if (code === undefined) return 0;
  if (glyphOf(code) !== undefined) return 6;
  // A half stands out where its other half is not beside it.
  if (code >= 0xd800 && code < 0xdc00) return isHalf(escaped(text, at + 6), 0xdc00) ? 0 : 6;
  if (code >= 0xdc00 && code < 0xe000) return isHalf(escaped(text, at - 6), 0xd800) ? 0 : 6;
  return 0;
}

function escaped(text: string, at: number): number | undefined {
  const hex = /^\\u([0-9a-f]{4})/i.exec(text.slice(Math.max(at, 0), at + 6));
  return hex ? Number.parseInt(hex[1] ?? "", 16) : undefined;
}

function isHalf(code: number | undefined, first: number): boolean {
  return code !== undefined && code >= first && code < first + 0x400;
}

/** The text exactly as received, with line ends and control characters made visible. */
export function* rawDocument(text: string, columns: number): Slices<CodeDocument> {
  const starts: number[] = [];
  for (let i = 0; i < text.length; ) {
    if (starts.push(i) % sliceRows === 0) yield;
    i = rowEnd(text, i, text.length, columns);
  }
  if (text.length === 0 || text.endsWith("\n")) starts.push(text.length);
  return {
    rows: starts.length,
    row(index) {
      const start = starts[index] ?? text.length;
      const end = starts[index + 1] ?? text.length;
      if (end === start || text.charCodeAt(end - 1) !== 0x0a) return cut(text, start, end, "text");
      return [...cut(text, start, end - 1, "text"), { kind: "break", text: "↵", start: end - 1, units: 1 }];
    },
    slice: (from, to) => text.slice(from, to),
  };
}

const indentOf = 2;

/** One row of a pretty document: a line, or the part of one from `part` on. */
interface PrettyRow {
  readonly line: number;
  readonly part: number;
}

/**
 * The text with one member a line; every token is spelled as received. Long strings end early, but for
 * those on the lines of `whole`.
 */
export function* prettyDocument(
  text: string,
  layout: JsonLayout,
  columns: number,
  whole: ReadonlySet<number> = new Set(),
): Slices<CodeDocument> {
  // Beyond half of the width nesting indents no further, and says how deep it is instead.
  const deepest = Math.max(Math.floor(columns / 2 / indentOf), 4);
  const lines: number[] = [];
  const parts: number[] = [];
  const room = (line: JsonLine) =>
    columns - Math.min(line.depth, deepest) * indentOf - (line.depth > deepest ? 5 : 0);
  for (let index = 0; index < layout.length; index++) {
    if (index % sliceRows === 0) yield;
    const start = layout.valueStart(index);
    lines.push(index);
    parts.push(start);
    // Most values are too short to be broken: no character takes more columns than a glyph.
    if ((layout.valueEnd(index) - start) * 6 <= 12) continue;
    const line = layout.at(index);
    const keyColumns = line.keyStart < 0 ? 0 : line.keyEnd - line.keyStart + 2;
    if (line.kind !== LineKind.string && line.kind !== LineKind.number) continue;
    let width = Math.max(room(line) - keyColumns, 12);
    const end = shownEnd(text, line, whole.has(index));
    for (let i = rowEnd(text, line.valueStart, end, width); i < end; i = rowEnd(text, i, end, width)) {
      if (lines.length % sliceRows === 0) yield;
      width = Math.max(room(line) - indentOf, 12);
      lines.push(index);
      parts.push(i);
    }
  }
  const rowAt = (index: number): PrettyRow => ({ line: lines[index] ?? 0, part: parts[index] ?? 0 });
  return {
    rows: lines.length,
    row(index) {
      const { line: at, part } = rowAt(index);
      const line = layout.at(at);
      const continues = part !== line.valueStart;
      const next = rowAt(index + 1);
      const shown = shownEnd(text, line, whole.has(at));
      const end = index + 1 < lines.length && next.line === at ? next.part : shown;
      const indent = Math.min(line.depth, deepest) * indentOf + (continues ? indentOf : 0);
      const fragments: Fragment[] = [{ kind: "text", text: " ".repeat(indent), start: -1, units: 0 }];
      if (line.depth > deepest)
        fragments.push({ kind: "dim", text: `${line.depth} `.padStart(5), start: -1, units: 0 });
      if (!continues && line.keyStart >= 0) {
        fragments.push(...cut(text, line.keyStart, line.keyEnd, "key"), punct(": "));
      }
      fragments.push(...valueFragments(text, line, part, end));
      if (end === shown && shown < line.valueEnd) fragments.push(moreOf(line, at));
      if (end === shown) fragments.push(...tail(line));
      return fragments;
    },
    slice: (from, to) => text.slice(from, to),
  };
}

/** Where the shown part of a value ends. */
export function shownEnd(text: string, line: JsonLine, whole: boolean): number {
  if (whole || line.kind !== LineKind.string || line.valueEnd - line.valueStart <= longestString)
    return line.valueEnd;
  const end = line.valueStart + stringStart;
  // Not between the halves of a character.
  const code = text.charCodeAt(end);
  return code >= 0xdc00 && code <= 0xdfff ? end + 1 : end;
}

/** Stands for the rest of a string; `units` is the line that it is the rest of. */
export function moreOf(line: JsonLine, at: number): Fragment {
  const count = (line.valueEnd - line.valueStart - 2).toLocaleString("en");
  return { kind: "more", text: `Show all ${count} characters`, start: -1, units: at };
}

function punct(text: string): Fragment {
  return { kind: "punct", text, start: -1, units: 0 };
}

export const valueKinds: Readonly<Record<LineKind, FragmentKind>> = {
  [LineKind.string]: "string",
  [LineKind.number]: "number",
  [LineKind.literal]: "literal",
  [LineKind.open]: "punct",
  [LineKind.close]: "punct",
  [LineKind.empty]: "punct",
};

function valueFragments(text: string, line: JsonLine, from: number, to: number): Fragment[] {
  if (line.kind === LineKind.empty) {
    const brackets = text[line.valueStart] === "{" ? "{}" : "[]";
    return [
      { kind: "punct", text: brackets, start: line.valueStart, units: line.valueEnd - line.valueStart },
    ];
  }
  return cut(text, from, to, valueKinds[line.kind]);
}

function tail(line: JsonLine): Fragment[] {
  const fragments: Fragment[] = line.comma ? [punct(",")] : [];
  if (line.duplicate) fragments.push({ kind: "duplicate", text: "duplicate key", start: -1, units: 0 });
  if (line.exact) fragments.push({ kind: "exact", text: "exact", start: -1, units: 0 });
  return fragments;
}

/** The pretty text in full, for copying: the tokens as received, two spaces a level. */
export function prettyText(text: string, layout: JsonLayout): string {
  const out: string[] = [];
  for (let index = 0; index < layout.length; index++) {
    const line = layout.at(index);
    const key = line.keyStart < 0 ? "" : `${text.slice(line.keyStart, line.keyEnd)}: `;
    const value =
      line.kind === LineKind.empty
        ? text[line.valueStart] === "{"
          ? "{}"
          : "[]"
        : text.slice(line.valueStart, line.valueEnd);
    out.push(`${" ".repeat(line.depth * indentOf)}${key}${value}${line.comma ? "," : ""}`);
  }
  return out.join("\n");
}

const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Bytes in hexadecimal beside what of them is printable ASCII. */
export function* hexDocument(bytes: Uint8Array, perRow: number): Slices<CodeDocument> {
  yield;
  const hex = (from: number, to: number) =>
    Array.from(bytes.subarray(from, to), (byte) => hexDigits[byte] ?? "");
  return {
    rows: Math.max(Math.ceil(bytes.length / perRow), 1),
    row(index) {
      const start = index * perRow;
      const digits = hex(start, start + perRow);
      const half = perRow / 2;
      const left = digits
        .slice(0, half)
        .join(" ")
        .padEnd(half * 3 - 1);
      const right = digits
        .slice(half)
        .join(" ")
        .padEnd(half * 3 - 1);
      const ascii = Array.from(bytes.subarray(start, start + perRow), (byte) =>
        byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·",
      );
      return [
        { kind: "dim", text: `${start.toString(16).padStart(6, "0")}  `, start: -1, units: 0 },
        { kind: "text", text: `${left}  ${right}  `, start, units: digits.length },
        { kind: "dim", text: ascii.join(""), start: -1, units: 0 },
      ];
    },
    slice: (from, to) => hex(from, to).join(" "),
  };
}
