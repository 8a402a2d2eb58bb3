/** Cuts a query into runs for colouring it as it is typed. It judges nothing: that is the server's. */

export type TokenKind = "word" | "field" | "operator" | "mark" | "text" | "number" | "space";

export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly text: string;
}

const attributes = ["type", "source", "subject", "id", "datacontenttype", "dataschema", "severity", "trace"];

// A path may have anything in its quotes; other names end where an operator begins.
const path = String.raw`data(?:\[(?:\*|\d+)\])*(?:\.(?:"(?:[^"\\]|\\.)*"|[\p{L}\p{N}_$@-]+)(?:\[(?:\*|\d+)\])*)*`;
const fieldAt = new RegExp(
  String.raw`(${path}|ext\.[a-z0-9]+|[a-z][a-z0-9_-]*)(:|=|!=|<=|>=|<|>|~(?="))`,
  "uy",
);
// Comparisons alone may have spaces around them.
const comparedAt = new RegExp(
  String.raw`(${path}|ext\.[a-z0-9]+|[a-z][a-z0-9_-]*)(\s*)(<=|>=|<|>)(\s*)`,
  "uy",
);
const quotedAt = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)/uy;
const chunkAt = /[^\s()"]+/uy;
const spaceAt = /\s+/uy;
const literal = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;
const pathLike = /^(?:ext\.|data(?![\p{L}\p{N}_-]))/u;

/** `facets` are the installation's own fields. */
export function tokens(query: string, facets: readonly string[]): Token[] {
  const cutter = new Cutter(query, new Set([...attributes, ...facets]));
  while (cutter.more()) cutter.cut();
  return cutter.found;
}

class Cutter {
  readonly found: Token[] = [];
  readonly #query: string;
  readonly #known: ReadonlySet<string>;
  #at = 0;
  #depth = 0;
  /** The depth of parentheses from which on values of a field stand; 0 where none do. */
  #valuesFrom = 0;
  #behindField = false;

  constructor(query: string, known: ReadonlySet<string>) {
    this.#query = query;
    this.#known = known;
  }

  more(): boolean {
    return this.#at < this.#query.length;
  }

  cut(): void {
    const value = this.#behindField;
    this.#behindField = false;
    const space = this.#match(spaceAt)?.[0];
    if (space) this.#add("space", space.length);
    else if (!this.#parenthesis(value) && !this.#quoted() && (value || !this.#beginning()))
      this.#chunk(value);
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#query);
  }

  #add(kind: TokenKind, length: number): void {
    this.found.push({ kind, start: this.#at, text: this.#query.slice(this.#at, this.#at + length) });
    this.#at += length;
  }

  #parenthesis(value: boolean): boolean {
    const char = this.#query[this.#at];
    if (char !== "(" && char !== ")") return false;
    this.#depth += char === "(" ? 1 : -1;
    if (char === "(" && value) this.#valuesFrom = this.#depth;
    if (this.#depth < this.#valuesFrom) this.#valuesFrom = 0;
    this.#add("mark", 1);
    return true;
  }

  #quoted(): boolean {
    const text = this.#match(quotedAt)?.[0];
    if (!text) return false;
    this.#add("text", text.length);
    if (this.#query[this.#at] === "*") this.#add("mark", 1);
    return true;
  }

  /** What stands at the beginning of a condition: an operator, or a field. */
  #beginning(): boolean {
    const [word = ""] = this.#match(chunkAt) ?? [];
    const among = this.#valuesFrom > 0;
    if (word === "AND" || word === "OR" || word === "NOT") this.#add("operator", word.length);
    else if (!among && word.startsWith("-") && this.#query.length > this.#at + 1) this.#add("operator", 1);
    else if (!among && word === "~") this.#add("mark", 1);
    else return !among && this.#field();
    return true;
  }

  #field(): boolean {
    const [, name = "", before = "", operator = "", behind = ""] =
      this.#match(comparedAt) ?? this.#plainField() ?? [];
    if (!this.#known.has(name) && !pathLike.test(name)) return false;
    this.#add("field", name.length);
    if (before) this.#add("space", before.length);
    this.#add("mark", operator.length);
    if (behind) this.#add("space", behind.length);
    this.#behindField = true;
    return true;
  }

  #plainField(): readonly string[] | undefined {
    const [whole = "", name = "", operator = ""] = this.#match(fieldAt) ?? [];
    return whole ? [whole, name, "", operator] : undefined;
  }

  #chunk(value: boolean): void {
    const [text = ""] = this.#match(chunkAt) ?? [];
    const star = text.length > 1 && text.endsWith("*");
    const body = star ? text.slice(0, -1) : text;
    const plain = literal.test(body) ? "number" : "text";
    this.#add(body === "*" ? "mark" : value || this.#valuesFrom > 0 ? plain : "word", body.length);
    if (star) this.#add("mark", 1);
  }
}

/** The offset in a string of its `count`-th character; the API counts characters, strings have units. */
export function unitsOf(text: string, count: number): number {
  let units = 0;
  let left = count;
  for (const char of text) {
    if (left-- <= 0) break;
    units += char.length;
  }
  return units;
}

export function charactersIn(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
