/**
 * Writes the query language, as docs/query.md has it: names of fields, values behind a field, and
 * conditions. What comes out is always a query that the server reads, whatever text goes in.
 */

/** `type`, `source`, `subject`, `severity`, a facet's name, `id`, `trace`, `ext.<name>`, `data.<path>`, … */
export type Field = string;

export type ValueKind = "string" | "number" | "boolean" | "null" | "empty" | "absent";

/** A value as it stands in an event: `text` is the string itself, or how the number is spelled. */
export interface TypedValue {
  readonly kind: ValueKind;
  readonly text: string;
}

/** A mere string is the text of an attribute. */
export type Value = string | TypedValue;

export function typed(value: Value): TypedValue {
  if (typeof value !== "string") return value;
  return { kind: value === "" ? "empty" : "string", text: value };
}

/** One step into the data: the name of a member, the index of an element, or any element. */
export type Step = string | number | { readonly any: true };

const bareStep = /^[\p{L}\p{N}_$@-]+$/u;

/** The field of a place in the data: `data.items[*]."unit price"`. */
export function dataField(steps: readonly Step[]): Field {
  let path = "data";
  for (const step of steps) {
    if (typeof step === "number") path += `[${step}]`;
    else if (typeof step === "object") path += "[*]";
    else path += `.${bareStep.test(step) ? step : `"${step.replace(/["\\]/g, "\\$&")}"`}`;
  }
  return path;
}

export function isPathField(field: Field): boolean {
  return /^(?:ext\.|data(?:$|[.[]))/.test(field);
}

/** Attributes that are fields of the language and no parameters. */
const withoutParameter = new Set<Field>(["id", "trace", "datacontenttype", "dataschema"]);

export function hasNoParameter(field: Field): boolean {
  return withoutParameter.has(field);
}

/** The values of a filter on it are written as in the language; those of others are plain text. */
export function isWritten(field: Field): boolean {
  return isPathField(field) || hasNoParameter(field);
}

const dataPath =
  /^data(?:\[(?:\*|\d+)\])*(?:\.(?:"(?:[^"\\]|\\["\\])*"|[\p{L}\p{N}_$@-]+)(?:\[(?:\*|\d+)\])*)*$/u;

/** Whether a filter can be on it. */
export function isField(name: string, known: readonly Field[]): boolean {
  return (
    known.includes(name) || hasNoParameter(name) || /^ext\.[a-z0-9]{1,20}$/.test(name) || dataPath.test(name)
  );
}

/** Text in quotes. A backslash that stands before neither a quote nor a backslash is itself. */
export function quoted(text: string): string {
  return `"${text.replace(/"|\\(?=["\\]|$)/g, "\\$&")}"`;
}

// As the server reads them: white space, control characters and what an encoding lost need quotes.
const illegible = /[\s\p{Cc}\p{Z}\uFFFD"()*]/u;
const operators = new Set(["AND", "OR", "NOT"]);
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Text as a value behind a field, in quotes unless it is the same without them. */
function plainValue(text: string): string {
  const bare =
    text !== "" &&
    text !== "null" &&
    !operators.has(text) &&
    !illegible.test(text) &&
    !/^[<>=]/.test(text) &&
    (!text.startsWith("-") || jsonNumber.test(text));
  return bare ? text : quoted(text);
}

/** Data that reads as one of these stands for it and for the same text; quotes make it text alone. */
function ambiguous(text: string): boolean {
  return text === "true" || text === "false" || jsonNumber.test(text);
}

/** No condition needs more of a long value than its beginning. */
const longest = 1000;

/** Whether a text is a number as the language and JSON write it. */
export function isNumber(text: string): boolean {
  return jsonNumber.test(text);
}

/** The beginning of a text of at most so many bytes, never half a character. */
function beginning(text: string, bytes: number): string {
  let size = 0;
  let out = "";
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    size += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (size > bytes) return out;
    out += char;
  }
  return out;
}

/**
 * A value as it stands behind `field:`. An absent one has none: it is what `-field:*` finds, and is
 * written `*` here for its filter to negate.
 */
export function writtenValue(field: Field, value: Value): string {
  const { kind, text: raw } = typed(value);
  // As the server reads what is no text: half a surrogate is U+FFFD.
  const text = raw.toWellFormed();
  if (kind === "absent") return "*";
  if (kind === "null") return "null";
  if (kind === "empty") return '""';
  const cut = beginning(text, longest);
  if (kind !== "string") return cut === text ? text : `${cut}*`;
  if (cut !== text) return `${quoted(cut)}*`;
  return isPathField(field) && ambiguous(text) ? quoted(text) : plainValue(text);
}

/** A value as a condition of the query language, for the query bar and the clipboard. */
export function condition(field: Field, value: Value): string {
  const written = `${field}:${writtenValue(field, value)}`;
  return typed(value).kind === "absent" ? `-${written}` : written;
}

/** Alternatives in parentheses, where there is more than one. */
export function anyOf(field: Field, written: readonly string[]): string {
  return `${field}:${written.length === 1 ? written[0] : `(${written.join(" OR ")})`}`;
}

/** Cuts text at every `separator` that stands outside of quotes. */
export function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let inQuotes = false;
  for (let i = 0; i < text.length; i++) {
    if (inQuotes && text[i] === "\\") i++;
    else if (text[i] === '"') inQuotes = !inQuotes;
    else if (!inQuotes && text.startsWith(separator, i)) {
      parts.push(text.slice(from, i));
      i += separator.length - 1;
      from = i + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}

/** The other way round: what a written value says, for showing it. */
export function readValue(written: string): TypedValue & { readonly prefix?: true } {
  if (written === "*") return { kind: "absent", text: "" };
  if (written === "null") return { kind: "null", text: "null" };
  if (written === '""') return { kind: "empty", text: "" };
  const star = written.length > 1 && written.endsWith("*");
  const body = star ? written.slice(0, -1) : written;
  const prefix = star ? ({ prefix: true } as const) : {};
  if (body.length > 1 && body.startsWith('"') && body.endsWith('"')) {
    return { kind: "string", text: body.slice(1, -1).replace(/\\(["\\])/g, "$1"), ...prefix };
  }
  const kind = body === "true" || body === "false" ? "boolean" : jsonNumber.test(body) ? "number" : "string";
  return { kind, text: body, ...prefix };
}
