/**
 * Lays JSON out in lines without reading it into values, so that nothing about it changes: numbers
 * keep their spelling, keys their order, duplicates stay, strings keep their escapes. Only the white
 * space between tokens is ours. It never recurses, so depth costs memory and no stack.
 */

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
}

/** Lines in columns: a document of one megabyte may have half a million of them. */
export class JsonLayout {
  private readonly depths: number[] = [];
  private readonly flags: number[] = [];
  private readonly spans: number[] = [];

  get length(): number {
    return this.flags.length;
  }

  push(depth: number, kind: LineKind, key: Span | undefined, start: number, end: number): void {
    this.depths.push(depth);
    this.flags.push(kind | (key?.duplicate ? duplicateBit : 0));
    this.spans.push(key?.start ?? -1, key?.end ?? -1, start, end);
  }

  markComma(): void {
    this.flags[this.length - 1] = (this.flags.at(-1) ?? 0) | commaBit;
  }

  markExact(): void {
    this.flags[this.length - 1] = (this.flags.at(-1) ?? 0) | exactBit;
  }

  /** Turns the last line, an opening bracket, into an empty container. */
  closeEmpty(end: number): void {
    const last = this.length - 1;
    this.flags[last] = ((this.flags[last] ?? 0) & ~kindMask) | LineKind.empty;
    this.spans[last * 4 + 3] = end;
  }

  at(index: number): JsonLine {
    const flags = this.flags[index];
    if (flags === undefined) throw new RangeError(`line ${index} of ${this.length}`);
    const span = index * 4;
    return {
      depth: this.depths[index] ?? 0,
      kind: (flags & kindMask) as LineKind,
      keyStart: this.spans[span] ?? -1,
      keyEnd: this.spans[span + 1] ?? -1,
      valueStart: this.spans[span + 2] ?? 0,
      valueEnd: this.spans[span + 3] ?? 0,
      comma: (flags & commaBit) !== 0,
      duplicate: (flags & duplicateBit) !== 0,
      exact: (flags & exactBit) !== 0,
    };
  }

  /** How many keys repeat an earlier one of their object. */
  get duplicates(): number {
    let n = 0;
    for (const flags of this.flags) if (flags & duplicateBit) n++;
    return n;
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly duplicate: boolean;
}

interface Frame {
  readonly close: number;
  /** Keys seen so far; absent in arrays. */
  readonly keys: Set<string> | undefined;
  count: number;
}

/** Where a text stops being JSON. */
export class JsonFault extends Error {
  override readonly name = "JsonFault";
  /** Offset in UTF-16 units. */
  readonly at: number;
  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const literals = ["true", "false", "null"] as const;

class Reader {
  private i = 0;
  private readonly stack: Frame[] = [];
  private readonly layout = new JsonLayout();
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  read(): JsonLayout {
    this.space();
    this.value(undefined);
    for (let frame = this.stack.at(-1); frame !== undefined; frame = this.stack.at(-1)) this.member(frame);
    this.space();
    if (this.i < this.text.length) this.fail("text after the value");
    return this.layout;
  }

  /** One member of the innermost container, or its end. */
  private member(frame: Frame): void {
    this.space();
    if (this.code() === frame.close) {
      this.close(frame);
      return;
    }
    if (frame.count > 0) {
      this.expect(0x2c, "a comma or the closing bracket");
      this.layout.markComma();
      this.space();
    }
    let key: Span | undefined;
    if (frame.keys) {
      key = this.key(frame.keys);
      this.space();
      this.expect(0x3a, "a colon");
      this.space();
    }
    frame.count++;
    this.value(key);
  }

  private close(frame: Frame): void {
    this.i++;
    this.stack.pop();
    if (frame.count === 0) this.layout.closeEmpty(this.i);
    else this.layout.push(this.stack.length, LineKind.close, undefined, this.i - 1, this.i);
  }

  private value(key: Span | undefined): void {
    const start = this.i;
    const depth = this.stack.length;
    const c = this.code();
    if (c === 0x7b || c === 0x5b) {
      this.i++;
      this.layout.push(depth, LineKind.open, key, start, this.i);
      this.stack.push({ close: c + 2, keys: c === 0x7b ? new Set() : undefined, count: 0 });
    } else if (c === quote) {
      this.string();
      this.layout.push(depth, LineKind.string, key, start, this.i);
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      this.number();
      this.layout.push(depth, LineKind.number, key, start, this.i);
      if (!surelyFits(this.text, start, this.i) && !fitsDouble(this.text.slice(start, this.i))) {
        this.layout.markExact();
      }
    } else {
      const word = literals.find((literal) => this.text.startsWith(literal, start));
      if (word === undefined) this.fail("no value");
      this.i += word.length;
      this.layout.push(depth, LineKind.literal, key, start, this.i);
    }
  }

  private key(seen: Set<string>): Span {
    const start = this.i;
    if (this.code() !== quote) this.fail("no key in quotes");
    const escaped = this.string();
    const body = this.text.slice(start + 1, this.i - 1);
    // Two spellings of one key are one key.
    const name = escaped ? String(JSON.parse(`"${body}"`)) : body;
    const duplicate = seen.has(name);
    seen.add(name);
    return { start, end: this.i, duplicate };
  }

  /** Moves past a string and says whether it has escapes. */
  private string(): boolean {
    let escaped = false;
    for (this.i++; this.i < this.text.length; this.i++) {
      const c = this.text.charCodeAt(this.i);
      if (c === quote) {
        this.i++;
        return escaped;
      }
      if (c < 0x20) this.fail("a control character that is not escaped");
      if (c === backslash) {
        escaped = true;
        this.escape();
      }
    }
    return this.fail("a string without its closing quote");
  }

  private escape(): void {
    this.i++;
    const c = this.text[this.i] ?? "";
    if (c === "u") {
      if (!/^[0-9a-fA-F]{4}$/.test(this.text.slice(this.i + 1, this.i + 5)))
        this.fail("an escape that is not four hex digits");
      this.i += 4;
    } else if (c === "" || !'"\\/bfnrt'.includes(c)) {
      this.fail("an unknown escape");
    }
  }

  private number(): void {
    numberPattern.lastIndex = this.i;
    if (!numberPattern.test(this.text)) this.fail("no digits");
    this.i = numberPattern.lastIndex;
  }

  private space(): void {
    for (;;) {
      const c = this.text.charCodeAt(this.i);
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return;
      this.i++;
    }
  }

  private code(): number {
    return this.i < this.text.length ? this.text.charCodeAt(this.i) : -1;
  }

  private expect(c: number, what: string): void {
    if (this.code() !== c) this.fail(`no ${what.replace(/^an? /, "")}`);
    this.i++;
  }

  private fail(what: string): never {
    throw new JsonFault(this.i, this.i >= this.text.length ? "the text ends too early" : what);
  }
}

/** Of most numbers a look is enough: up to 15 digits without an exponent fit. */
function surelyFits(text: string, start: number, end: number): boolean {
  if (end - start > 15) return false;
  for (let i = start; i < end; i++) if (text.charCodeAt(i) >= 0x45) return false;
  return true;
}

/** Whether a double holds the number's exact decimal value. */
export function fitsDouble(spelling: string): boolean {
  const read = decimal(spelling);
  const value = Number(spelling);
  if (!Number.isFinite(value)) return false;
  const back = decimal(String(value));
  return read.digits === back.digits && (read.digits === "" || read.exponent === back.exponent);
}

/** Sign-free significant digits and the exponent of the last of them: equal for equal values. */
function decimal(spelling: string): { digits: string; exponent: number } {
  const [mantissa = "", power = "0"] = spelling.toLowerCase().replace("-", "").split(/e/);
  const exponentSign = /e-/i.test(spelling) ? -1 : 1;
  const [whole = "", fraction = ""] = mantissa.split(".");
  const all = (whole + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  const exponent =
    exponentSign * Number(power.replace(/[+-]/, "")) - fraction.length + (all.length - digits.length);
  return { digits, exponent };
}

/** The lines of a JSON text; throws a JsonFault where it is none. */
export function layoutJson(text: string): JsonLayout {
  return new Reader(text).read();
}
