/** An event written in other forms, from which nothing of it is lost: numbers keep their spelling. */
import type { EventDetail } from "#/api/oriel.gen.ts";
import { layoutJson } from "./json.ts";
import { LineKind } from "./json-layout.ts";
import { payloadOf } from "./payload.ts";

/** The members of the CloudEvents JSON format (section 3) in order, each spelled as JSON. */
function members(detail: EventDetail, oneLine: boolean): [name: string, json: string][] {
  const { event, extensions } = detail;
  const text = (name: string, value: string | undefined): [string, string][] =>
    value === undefined ? [] : [[name, quote(value)]];
  return [
    ["specversion", '"1.0"'],
    ...text("id", event.id),
    ...text("source", event.source),
    ...text("type", event.type),
    ...text("subject", event.subject),
    ...text("time", event.time),
    ...text("datacontenttype", event.dataContentType),
    ...text("dataschema", detail.dataSchema),
    ...Object.entries(extensions).map(([name, { type, value }]): [string, string] => [
      name,
      type === "string" ? quote(value) : value,
    ]),
    ...data(detail, oneLine),
  ];
}

function data(detail: EventDetail, oneLine: boolean): [name: string, json: string][] {
  const { dataKind, dataContentType } = detail.event;
  const { dataText } = detail;
  if (dataKind === "absent") return [];
  if (dataKind === "json" && dataText !== undefined) {
    return [["data", oneLine && /[\r\n]/.test(dataText) ? compact(dataText) : dataText]];
  }
  // Without a content type text would be taken for a JSON string.
  if (dataKind === "text" && dataText !== undefined && dataContentType !== undefined) {
    return [["data", quote(dataText)]];
  }
  return [["data_base64", quote(detail.dataBase64 ?? base64(payloadOf(detail).bytes()))]];
}

function quote(text: string): string {
  // Line separators are no line ends of JSON, but of some who read it line by line.
  return JSON.stringify(text).replace(/[\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

function base64(bytes: Uint8Array): string {
  let chars = "";
  // In parts, as a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8192)
    chars += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(chars);
}

/** The tokens of a JSON text as they are spelled, with nothing between them. */
function compact(text: string): string {
  const layout = layoutJson(text);
  const out: string[] = [];
  for (let index = 0; index < layout.length; index++) {
    const line = layout.at(index);
    if (line.keyStart >= 0 && line.kind !== LineKind.close)
      out.push(text.slice(line.keyStart, line.keyEnd), ":");
    if (line.kind === LineKind.empty) out.push(text[line.valueStart] === "{" ? "{}" : "[]");
    else out.push(text.slice(line.valueStart, line.valueEnd));
    if (line.comma) out.push(",");
  }
  return out.join("");
}

/** The event in the CloudEvents JSON format, one member a line; the data is byte for byte as received. */
export function asJson(detail: EventDetail): string {
  const lines = members(detail, false).map(([name, json]) => `  ${quote(name)}: ${json}`);
  return `{\n${lines.join(",\n")}\n}`;
}

/** The same in one line. */
export function asLine(detail: EventDetail): string {
  return `{${members(detail, true)
    .map(([name, json]) => `${quote(name)}:${json}`)
    .join(",")}}`;
}

/** A text as one word of a POSIX shell. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

const token = '-H "Authorization: Bearer $ORIEL_TOKEN"';

/** A command that reads the event. */
export function asReadCommand(address: string): string {
  return `curl -sS ${token} ${shellWord(address)}`;
}

/** A command that publishes the event. As a document, as an argument could be too long. */
export function asSendCommand(detail: EventDetail, address: string): string {
  const to = `curl -sS ${token} -H 'Content-Type: application/cloudevents+json' --data-binary @- ${shellWord(address)}`;
  return `${to} <<'ORIEL_EVENT'\n${asLine(detail)}\nORIEL_EVENT`;
}
