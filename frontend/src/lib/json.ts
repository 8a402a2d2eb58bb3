/**
 * Lays JSON out in lines without reading it into values, so that nothing about it changes: numbers
 * keep their spelling, keys their order, duplicates stay, strings keep their escapes. Only the white
 * space between tokens is ours. It never recurses, so depth costs memory and no stack.
 */
import { type JsonKey, JsonLayout, LineKind } from "./json-layout.ts";
import { drain, type Slices } from "./slices.ts";

interface Frame {
  readonly close: number;
  /** The line that opens it. */
  readonly line: number;
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

/** Members read between two pauses: well below a millisecond. */
const sliceMembers = 1000;

class Reader {
  private i = 0;
  private readonly stack: Frame[] = [];
  private readonly layout = new JsonLayout();
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  *read(): Slices<JsonLayout> {
    this.space();
    this.value(undefined, -1, 0);
    let members = 0;
    for (let frame = this.stack.at(-1); frame !== undefined; frame = this.stack.at(-1)) {
      this.member(frame);
      if (++members % sliceMembers === 0) yield;
    }
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
    let key: JsonKey | undefined;
    if (frame.keys) {
      key = this.key(frame.keys);
      this.space();
      this.expect(0x3a, "a colon");
      this.space();
    }
    frame.count++;
    this.value(key, frame.line, frame.count - 1);
  }

  private close(frame: Frame): void {
    this.i++;
    this.stack.pop();
    this.layout.close(frame.line, frame.count, this.i);
  }

  private value(key: JsonKey | undefined, parent: number, ordinal: number): void {
    const start = this.i;
    const place = { depth: this.stack.length, parent, ordinal };
    const c = this.code();
    if (c === 0x7b || c === 0x5b) {
      this.i++;
      const line = this.layout.push(LineKind.open, place, key, start, this.i);
      this.stack.push({ close: c + 2, line, keys: c === 0x7b ? new Set() : undefined, count: 0 });
    } else if (c === quote) {
      this.string();
      this.layout.push(LineKind.string, place, key, start, this.i);
    } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      this.number();
      this.layout.push(LineKind.number, place, key, start, this.i);
      if (!surelyFits(this.text, start, this.i) && !fitsDouble(this.text.slice(start, this.i))) {
        this.layout.markExact();
      }
    } else {
      const word = literals.find((literal) => this.text.startsWith(literal, start));
      if (word === undefined) this.fail("no value");
      this.i += word.length;
      this.layout.push(LineKind.literal, place, key, start, this.i);
    }
  }

  private key(seen: Set<string>): JsonKey {
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
    // Most are short and whole, and need no pattern.
    const first = this.code();
    if (first >= 0x31 && first <= 0x39) {
      let i = this.i + 1;
      let c = this.text.charCodeAt(i);
      while (c >= 0x30 && c <= 0x39) c = this.text.charCodeAt(++i);
      if (c !== 0x2e && c !== 0x65 && c !== 0x45) {
        this.i = i;
        return;
      }
    }
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

/** The lines of a JSON text, a slice at a time; throws a JsonFault where it is none. */
export function readJson(text: string): Slices<JsonLayout> {
  return new Reader(text).read();
}

/** The same at once. */
export function layoutJson(text: string): JsonLayout {
  return drain(readJson(text));
}
