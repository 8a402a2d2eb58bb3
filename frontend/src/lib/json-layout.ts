/** What a JSON text is laid out as: lines in columns, as a megabyte may have half a million of them. */

export const LineKind = { string: 0, number: 1, literal: 2, open: 3, close: 4, empty: 5 } as const;
export type LineKind = (typeof LineKind)[keyof typeof LineKind];

const kindMask = 7;
const commaBit = 8;
const duplicateBit = 16;
const exactBit = 32;

export interface JsonLine {
  readonly depth: number;
  readonly kind: LineKind;
  /** The key's span in the text, with its quotes; both -1 outside of objects. */
  readonly keyStart: number;
  readonly keyEnd: number;
  /** The value's span; of an opening or closing line the bracket's, of an empty container both. */
  readonly valueStart: number;
  readonly valueEnd: number;
  /** A comma follows. */
  readonly comma: boolean;
  /** The same key occurred earlier in the same object. */
  readonly duplicate: boolean;
  /** A number that a double cannot hold; it is shown as received. */
  readonly exact: boolean;
  /** The line that opens what it is in; -1 of the outermost. */
  readonly parent: number;
  /** Its place among the members of what it is in, from 0. */
  readonly ordinal: number;
  /** Of an opening line the one that closes it; of any other itself. */
  readonly last: number;
  /** How many members it has. */
  readonly members: number;
}

export interface JsonKey {
  readonly start: number;
  readonly end: number;
  readonly duplicate: boolean;
}

const width = 10;
const Column = {
  flags: 0,
  depth: 1,
  keyStart: 2,
  keyEnd: 3,
  valueStart: 4,
  valueEnd: 5,
  parent: 6,
  ordinal: 7,
  last: 8,
  members: 9,
} as const;

/** Lines kept together; a text of many has many such parts, so that growing copies nothing. */
const chunkBits = 12;
const chunkMask = (1 << chunkBits) - 1;

/** Where a value stands. */
export interface JsonPlace {
  readonly depth: number;
  readonly parent: number;
  readonly ordinal: number;
}

export class JsonLayout {
  private readonly chunks: Int32Array[] = [];
  private lines = 0;
  private repeated = 0;

  get length(): number {
    return this.lines;
  }

  /** How many keys repeat an earlier one of their object. */
  get duplicates(): number {
    return this.repeated;
  }

  /** Adds a line, and answers its number. */
  push(
    kind: LineKind,
    { depth, parent, ordinal }: JsonPlace,
    key: JsonKey | undefined,
    start: number,
    end: number,
  ): number {
    const line = this.lines++;
    const at = (line & chunkMask) * width;
    if (at === 0) this.chunks.push(new Int32Array(width << chunkBits));
    const cells = this.chunks[line >> chunkBits] as Int32Array;
    if (key?.duplicate) this.repeated++;
    cells[at] = kind | (key?.duplicate ? duplicateBit : 0);
    cells[at + Column.depth] = depth;
    cells[at + Column.keyStart] = key?.start ?? -1;
    cells[at + Column.keyEnd] = key?.end ?? -1;
    cells[at + Column.valueStart] = start;
    cells[at + Column.valueEnd] = end;
    cells[at + Column.parent] = parent;
    cells[at + Column.ordinal] = ordinal;
    cells[at + Column.last] = line;
    return line;
  }

  markComma(): void {
    this.set(this.lines - 1, Column.flags, this.cell(this.lines - 1, Column.flags) | commaBit);
  }

  markExact(): void {
    this.set(this.lines - 1, Column.flags, this.cell(this.lines - 1, Column.flags) | exactBit);
  }

  /** Ends an opening line's container: with a line of its own, or on the same where it is empty. */
  close(open: number, members: number, end: number): void {
    if (members === 0) {
      this.set(open, Column.flags, (this.cell(open, Column.flags) & ~kindMask) | LineKind.empty);
      this.set(open, Column.valueEnd, end);
      return;
    }
    const line = this.push(LineKind.close, this.at(open), undefined, end - 1, end);
    this.set(open, Column.last, line);
    this.set(open, Column.members, members);
  }

  kind(line: number): LineKind {
    return (this.cell(line, Column.flags) & kindMask) as LineKind;
  }

  last(line: number): number {
    return this.cell(line, Column.last);
  }

  parent(line: number): number {
    return this.cell(line, Column.parent);
  }

  members(line: number): number {
    return this.cell(line, Column.members);
  }

  valueStart(line: number): number {
    return this.cell(line, Column.valueStart);
  }

  valueEnd(line: number): number {
    return this.cell(line, Column.valueEnd);
  }

  private cell(line: number, column: number): number {
    return this.chunks[line >> chunkBits]?.[(line & chunkMask) * width + column] ?? 0;
  }

  private set(line: number, column: number, value: number): void {
    const cells = this.chunks[line >> chunkBits];
    if (cells) cells[(line & chunkMask) * width + column] = value;
  }

  at(line: number): JsonLine {
    if (line < 0 || line >= this.lines) throw new RangeError(`line ${line} of ${this.lines}`);
    const cells = this.chunks[line >> chunkBits] as Int32Array;
    const from = (line & chunkMask) * width;
    const cell = (column: number) => cells[from + column] ?? 0;
    const flags = cell(Column.flags);
    return {
      depth: cell(Column.depth),
      kind: (flags & kindMask) as LineKind,
      keyStart: cell(Column.keyStart),
      keyEnd: cell(Column.keyEnd),
      valueStart: cell(Column.valueStart),
      valueEnd: cell(Column.valueEnd),
      comma: (flags & commaBit) !== 0,
      duplicate: (flags & duplicateBit) !== 0,
      exact: (flags & exactBit) !== 0,
      parent: cell(Column.parent),
      ordinal: cell(Column.ordinal),
      last: cell(Column.last),
      members: cell(Column.members),
    };
  }
}
