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

type Summarised = Pick<Event, "dataKind" | "dataContentType" | "dataSize" | "summary">;

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
      return jsonParts(event.summary);
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
  const parts: SummaryPart[] = [];
  for (const match of line.matchAll(token)) {
    const [whole, body, closed] = match;
    const string = body !== undefined;
    if (!string && /^[{}[\],:]$/.test(whole)) continue;
    const key = string && closed === '"' && line[match.index + whole.length] === ":";
    parts.push({ kind: key ? "key" : "value", text: string ? body : whole });
  }
  return parts;
}
