/**
 * Makes characters visible that would show nothing, or would reorder or disguise what surrounds
 * them: control characters, bidirectional controls, zero-width characters, fillers, tags, lone
 * surrogates. Joiners and variation selectors stay where a script or an emoji needs them.
 */

const names: Readonly<Record<number, string>> = {
  0: "NUL",
  1: "SOH",
  2: "STX",
  3: "ETX",
  4: "EOT",
  5: "ENQ",
  6: "ACK",
  7: "BEL",
  8: "BS",
  9: "TAB",
  10: "LF",
  11: "VT",
  12: "FF",
  13: "CR",
  14: "SO",
  15: "SI",
  16: "DLE",
  17: "DC1",
  18: "DC2",
  19: "DC3",
  20: "DC4",
  21: "NAK",
  22: "SYN",
  23: "ETB",
  24: "CAN",
  25: "EM",
  26: "SUB",
  27: "ESC",
  28: "FS",
  29: "GS",
  30: "RS",
  31: "US",
  127: "DEL",
  173: "SHY",
  847: "CGJ",
  1564: "ALM",
  4447: "HCF",
  4448: "HJF",
  6068: "KIVAQ",
  6069: "KIVAA",
  6158: "MVS",
  8203: "ZWSP",
  8204: "ZWNJ",
  8205: "ZWJ",
  8206: "LRM",
  8207: "RLM",
  8232: "LSEP",
  8233: "PSEP",
  8234: "LRE",
  8235: "RLE",
  8236: "PDF",
  8237: "LRO",
  8238: "RLO",
  8288: "WJ",
  8289: "FA",
  8290: "IT",
  8291: "IS",
  8292: "IP",
  8294: "LRI",
  8295: "RLI",
  8296: "FSI",
  8297: "PDI",
  8298: "ISS",
  8299: "ASS",
  8300: "IAFS",
  8301: "AAFS",
  8302: "NADS",
  8303: "NODS",
  12644: "HF",
  65279: "BOM",
  65440: "HHF",
  65529: "IAA",
  65530: "IAS",
  65531: "IAT",
};

/** The glyph text of a code unit that needs one. */
export function glyphOf(code: number): string | undefined {
  const name = names[code];
  if (name !== undefined) return name;
  const control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  return control || isTag(code) || selects(code) ? numbered(code) : undefined;
}

function numbered(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A letter that shows nothing and can carry a whole hidden text. */
function isTag(point: number): boolean {
  return point >= 0xe0000 && point <= 0xe0fff && !isSupplement(point);
}

/** A variation selector: it chooses how the character before it looks. */
function selects(point: number): boolean {
  const mongolian = point >= 0x180b && point <= 0x180f && point !== 0x180e;
  return mongolian || (point >= 0xfe00 && point <= 0xfe0f) || isSupplement(point);
}

function isSupplement(point: number): boolean {
  return point >= 0xe0100 && point <= 0xe01ef;
}

/** Whether a joiner or a variation selector stands where a script or an emoji needs it. */
function serves(text: string, index: number, point: number): boolean {
  const before = pointBefore(text, index);
  const keycap = text.charCodeAt(index + 1) === 0x20e3;
  if (selects(point)) return keycap || (before >= 0xa9 && seen(before) && !selects(before));
  const joins = point === 0x200c || point === 0x200d;
  return joins && [before, text.codePointAt(index + 1) ?? 0].every((at) => at >= 0x300 && seen(at));
}

/** 0 at the beginning. */
function pointBefore(text: string, index: number): number {
  const unit = text.charCodeAt(index - 1) || 0;
  return unit >= 0xdc00 && unit <= 0xdfff ? (text.codePointAt(index - 2) ?? unit) : unit;
}

function seen(point: number): boolean {
  return !isTag(point) && !isSupplement(point) && !(point >= 0x2000 && point <= 0x200f);
}

/** One character of a text: how many units it has, how many columns it takes, its glyph if any. */
export interface Cell {
  readonly units: number;
  readonly columns: number;
  readonly glyph: string | undefined;
}

const plain: Cell = { units: 1, columns: 1, glyph: undefined };
/** Of combining marks, joiners and variation selectors, which sit on the character before. */
const mark: Cell = { units: 1, columns: 0, glyph: undefined };
const widerMark: Cell = { units: 2, columns: 0, glyph: undefined };
const markPattern = /^[\p{Mn}\p{Me}]$/u;

function wide(point: number): boolean {
  return (
    (point >= 0x1100 && point <= 0x115f) ||
    (point >= 0x2e80 && point <= 0xa4cf) ||
    (point >= 0xac00 && point <= 0xd7a3) ||
    (point >= 0xf900 && point <= 0xfaff) ||
    (point >= 0xfe30 && point <= 0xfe6f) ||
    (point >= 0xff00 && point <= 0xff60) ||
    (point >= 0xffe0 && point <= 0xffe6) ||
    point >= 0x1f000
  );
}

export function cellAt(text: string, index: number): Cell {
  const code = text.charCodeAt(index);
  if (code >= 0x20 && code < 0x7f) return plain;
  if (code >= 0xa0 && code < 0x300 && code !== 0xad) return plain;
  const point = text.codePointAt(index) ?? code;
  const units = point > 0xffff ? 2 : 1;
  const glyph = glyphOf(point);
  // A glyph box has a padding and a margin of about one column.
  if (glyph !== undefined) {
    if (serves(text, index, point)) return units === 1 ? mark : widerMark;
    return { units, columns: glyph.length + 1, glyph };
  }
  if (point > 0xffff) return { units: 2, columns: wide(point) ? 2 : 1, glyph: undefined };
  if (code >= 0xd800 && code <= 0xdfff) {
    const lone = numbered(code);
    return { units: 1, columns: lone.length + 1, glyph: lone };
  }
  if (markPattern.test(text.charAt(index))) return mark;
  return wide(point) ? { units: 1, columns: 2, glyph: undefined } : plain;
}

export interface Piece {
  readonly text: string;
  /** Whether `text` is a glyph that stands for the character, not the character. */
  readonly glyph: boolean;
  /** Offset of the piece in the text it was cut from. */
  readonly start: number;
  /** Units that it stands for there. */
  readonly units: number;
}

/** What may need one: whether it does is then asked of each character. */
const needsGlyph = /[\p{Cc}\p{Cs}\p{DI}\u2028\u2029\ufff9-\ufffb]/u;

/** Cuts a text into runs to show as they are and characters to show as glyphs. */
export function pieces(text: string, from = 0, to = text.length): Piece[] {
  const slice = text.slice(from, to);
  if (!needsGlyph.test(slice))
    return slice === "" ? [] : [{ text: slice, glyph: false, start: from, units: slice.length }];
  const result: Piece[] = [];
  let run = from;
  const flush = (end: number) => {
    if (end > run) result.push({ text: text.slice(run, end), glyph: false, start: run, units: end - run });
  };
  for (let i = from; i < to; ) {
    const cell = cellAt(text, i);
    if (cell.glyph !== undefined) {
      flush(i);
      result.push({ text: cell.glyph, glyph: true, start: i, units: cell.units });
      run = i + cell.units;
    }
    i += cell.units;
  }
  flush(to);
  return result;
}

/**
 * The same for where no boxes can be drawn, such as tooltips and the names of windows: the names stand
 * in brackets. Line breaks and tabs are left, as they do no harm there.
 */
export function spelled(text: string): string {
  if (!needsGlyph.test(text)) return text;
  return pieces(text)
    .map(({ text: shown, glyph }) =>
      !glyph ? shown : shown === "LF" ? "\n" : shown === "TAB" ? "\t" : `[${shown}]`,
    )
    .join("");
}

/** How many columns of a monospaced font the text takes. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (let i = 0; i < text.length; ) {
    const cell = cellAt(text, i);
    columns += cell.columns;
    i += cell.units;
  }
  return columns;
}

/** Keeps both ends of a text that is too long: identifiers differ at the end, not in the middle. */
export function elideMiddle(text: string, columns: number): string {
  // The usual case without counting: nothing is wider than two columns but glyphs, and those are rare.
  if (text.length <= columns && !needsGlyph.test(text) && columnsOf(text) <= columns) return text;
  if (columnsOf(text) <= columns) return text;
  const room = Math.max(columns - 1, 2);
  // What tells names apart is more often at their end.
  const tail = Math.ceil((room * 2) / 3);
  let head = 0;
  for (let used = 0; head < text.length; ) {
    const cell = cellAt(text, head);
    if (used + cell.columns > room - tail) break;
    used += cell.columns;
    head += cell.units;
  }
  let start = text.length;
  for (let used = 0; start > head; ) {
    const pair = start >= 2 && cellAt(text, start - 2).units === 2 ? 2 : 1;
    const { columns: width } = cellAt(text, start - pair);
    if (used + width > tail) break;
    used += width;
    start -= pair;
  }
  return `${text.slice(0, head)}…${text.slice(start)}`;
}

/**
 * A dotted name on two lines at most: the first ends after a dot, a hyphen or the like where there is
 * one in its second half, and what is too long for the second is elided in the middle.
 */
export function titleLines(text: string, columns: number): readonly string[] {
  if (columnsOf(text) <= columns) return [text];
  let end = 0;
  let parted = 0;
  for (let used = 0; end < text.length; ) {
    const cell = cellAt(text, end);
    if (used + cell.columns > columns) break;
    used += cell.columns;
    end += cell.units;
    if (used * 2 > columns && /[-./:_\s]/.test(text.charAt(end - 1))) parted = end;
  }
  const head = text.slice(0, parted || Math.max(end, 1));
  return [head, elideMiddle(text.slice(head.length), columns)];
}
