/**
 * The line that a list shows of an event's data. The server sums JSON up as its first 200 characters;
 * here keys and values are told apart so that the eye finds the values. Nothing is rewritten: values
 * keep their spelling, only quotes and brackets are left out.
 */
import type { DataKind, Event } from "#/api/oriel.gen.ts";

export interface SummaryPart {
  readonly kind: "key" | "value";
  readonly text: string;
}

export interface Summary {
  /** What kind of data it is, where that is not plain JSON or text. */
  readonly badge: string | undefined;
  readonly parts: readonly SummaryPart[];
}

const badges: Readonly<Partial<Record<DataKind, string>>> = {
  binary: "binary",
  invalid: "malformed",
  empty: "empty",
  absent: "no data",
};

type Summarised = Pick<Event, "dataKind" | "dataContentType" | "dataSize" | "summary"> &
  Partial<Pick<Event, "subject" | "source" | "type" | "id" | "severity">>;

export function summarise(event: Summarised): Summary {
  return { badge: badges[event.dataKind], parts: partsOf(event) };
}

function partsOf(event: Summarised): SummaryPart[] {
  switch (event.dataKind) {
    case "absent":
      return [{ kind: "value", text: "attributes only" }];
    case "empty":
      return [{ kind: "value", text: "zero bytes" }];
    case "binary":
      return [{ kind: "value", text: binaryText(event) }];
    case "json":
      return told(event);
    default:
      return [{ kind: "value", text: unpicture(event.summary) }];
  }
}

/** The server's line has pictures for control characters; the list shows those by name. */
function unpicture(line: string): string {
  return line.replace(/[\u2400-\u241f\u2421]/g, (picture) =>
    picture === "\u2421" ? "\u007f" : String.fromCharCode(picture.charCodeAt(0) - 0x2400),
  );
}

/** `image/jpeg · 48,211 B · ff d8 ff e0`; the first bytes end the server's line. */
function binaryText(event: Summarised): string {
  const hex = /([0-9a-f]{2,})…?$/.exec(event.summary)?.[1]?.match(/../g)?.join(" ");
  const type = event.dataContentType ?? "no content type";
  return [type, `${event.dataSize.toLocaleString("en")} B`, hex].filter(Boolean).join(" · ");
}

/** Strings, brackets, and runs of anything else, of JSON that may be cut anywhere. */
const token = /"((?:[^"\\]|\\.)*)("?)|\[\]|\{\}|[{}[\],:]|[^{}[\],:"]+/gs;

export function jsonParts(line: string): SummaryPart[] {
  return membersOf(line).flat();
}

/** The parts, by the members of the outermost object. */
function membersOf(line: string): SummaryPart[][] {
  const members: SummaryPart[][] = [[]];
  let depth = 0;
  for (const match of line.matchAll(token)) {
    const [whole, body, closed] = match;
    const string = body !== undefined;
    if (!string && /^[{}[\],:]$/.test(whole)) {
      depth += deeper(whole);
      continue;
    }
    const key = string && closed === '"' && line[match.index + whole.length] === ":";
    if (key && depth === 1) members.push([]);
    members.at(-1)?.push({ kind: key ? "key" : "value", text: string ? body : whole });
  }
  return members.filter((parts) => parts.length > 0);
}

function deeper(mark: string): number {
  if (mark === "{" || mark === "[") return 1;
  return mark === "}" || mark === "]" ? -1 : 0;
}

const saying = new Set(["message", "msg", "error", "reason", "description", "title", "text", "detail"]);
const elsewhere = new Set(["severity", "level"]);

/** What says something stands first, and what other columns have already last. */
function told(event: Summarised): SummaryPart[] {
  const { subject, source, type, id, severity } = event;
  const columns = new Set([subject, source, type, id, severity].filter(Boolean));
  const rank = ([key, value, ...more]: readonly SummaryPart[]) => {
    if (key?.kind !== "key") return 1;
    const name = key.text.toLowerCase();
    if (saying.has(name)) return 0;
    return more.length === 0 && (elsewhere.has(name) || columns.has(value?.text)) ? 2 : 1;
  };
  const members = membersOf(event.summary);
  return members.toSorted((a, b) => rank(a) - rank(b)).flat();
}
