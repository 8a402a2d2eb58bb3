/** What two events have in common and what not: attributes, extensions and data, as they were sent. */
import type { EventDetail } from "#/api/oriel.gen.ts";
import { JsonFault } from "#/lib/json.ts";
import { type Difference, diffJson } from "#/lib/json-diff.ts";
import type { Slices } from "#/lib/slices.ts";

/** Every attribute of an event as a text, by name. */
function attributes({ event, dataSchema, traceId, extensions }: EventDetail): Map<string, string> {
  const { type, source, subject, id, time, severity, dataContentType, tags } = event;
  const named: Readonly<Record<string, string | undefined>> = {
    type,
    source,
    subject,
    id,
    time,
    severity,
    tags: tags.length === 0 ? undefined : tags.join(", "),
    datacontenttype: dataContentType,
    dataschema: dataSchema,
    trace: traceId,
  };
  const all = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const own = Object.entries(extensions).map(([name, { value }]): [string, string] => [`ext.${name}`, value]);
  return new Map([...all, ...own]);
}

function diffMaps(left: Map<string, string>, right: Map<string, string>): Difference[] {
  return [...new Set([...left.keys(), ...right.keys()])].map((path) => {
    const [a, b] = [left.get(path), right.get(path)];
    return { path, left: a, right: b, same: a === b };
  });
}

/** The data as one text: what is no UTF-8 as base64. */
function dataOf({ dataText, dataBase64 }: EventDetail): string | undefined {
  return dataText ?? dataBase64;
}

export interface Comparison {
  readonly differences: readonly Difference[];
  /** The data are no JSON on both sides, and are compared as a whole. */
  readonly whole: boolean;
  /** They are the same, byte for byte. */
  readonly sameData: boolean;
}

export function* compareEvents(left: EventDetail, right: EventDetail): Slices<Comparison> {
  const own = diffMaps(attributes(left), attributes(right));
  const [a, b] = [dataOf(left), dataOf(right)];
  const sameData = left.dataText === right.dataText && left.dataBase64 === right.dataBase64;
  const json = left.event.dataKind === "json" && right.event.dataKind === "json";
  if (json && left.dataText !== undefined && right.dataText !== undefined) {
    try {
      const data = yield* diffJson(left.dataText, right.dataText);
      return { differences: [...own, ...data], whole: false, sameData };
    } catch (fault) {
      if (!(fault instanceof JsonFault)) throw fault;
    }
  }
  const whole = { path: "data", left: a, right: b, same: sameData };
  return { differences: a === undefined && b === undefined ? own : [...own, whole], whole: true, sameData };
}

export interface Excerpt {
  readonly text: string;
  readonly from: number;
  /** There is more behind it. */
  readonly cut: boolean;
}

const before = 60;
const longest = 400;

/** Of a long value the part around the first difference. */
export function excerpt(value: string, other: string | undefined): Excerpt {
  if (value.length <= longest) return { text: value, from: 0, cut: false };
  let at = 0;
  if (other !== undefined && other !== value) {
    while (at < value.length && value[at] === other[at]) at++;
  }
  let from = Math.max(0, Math.min(at - before, value.length - longest));
  // Never half a character.
  if (/[\uDC00-\uDFFF]/.test(value[from] ?? "")) from--;
  const end = from + longest;
  const to = /[\uDC00-\uDFFF]/.test(value[end] ?? "") ? end + 1 : end;
  return { text: value.slice(from, to), from, cut: to < value.length };
}
