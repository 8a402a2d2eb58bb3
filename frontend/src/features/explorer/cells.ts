/** What stands in a cell of the list, and what can be done with it. */
import type { ColumnValue, Event } from "#/api/oriel.gen.ts";
import { type Column, type Field, isField, isWrittenField, type TypedValue } from "#/lib/search.ts";
import { isPlainColumn } from "./columns.ts";

/** A value of a field of an event; a text may be only its beginning. */
export interface CellValue {
  readonly kind: ColumnValue["kind"];
  readonly text: string;
  readonly cut?: boolean;
}

/** `waiting` for the server, which is asked; `unread` as the page's data were too much; `failed`. */
export type Missing = "waiting" | "unread" | "failed";

/** Values that the list does not have by itself. */
export type FarCells = (event: Event, field: Field) => CellValue | Missing;

const absent: CellValue = { kind: "absent", text: "" };

const near: Readonly<Record<string, (event: Event) => string | undefined>> = {
  time: (event) => event.time,
  ingestTime: (event) => event.ingestTime,
  summary: (event) => event.summary,
  type: (event) => event.type,
  source: (event) => event.source,
  subject: (event) => event.subject,
  severity: (event) => event.severity,
  id: (event) => event.id,
  datacontenttype: (event) => event.dataContentType,
};

/** Of a field that the server must be asked for, as the list does not hold it. */
export function isFar(field: Field, facets: readonly Field[]): boolean {
  return !Object.hasOwn(near, field) && !facets.includes(field) && isField(field, facets);
}

/** Whether there can be such a field at all. */
export function isColumn(field: Field, facets: readonly Field[]): boolean {
  return Object.hasOwn(near, field) || isField(field, facets);
}

/** The columns that the server is asked for, at most as many as it takes. */
export function farFields(columns: readonly Column[], facets: readonly Field[]): readonly Field[] {
  return columns
    .map(({ field }) => field)
    .filter((field) => isFar(field, facets))
    .slice(0, 16);
}

export function cellOf(event: Event, field: Field, far: FarCells): CellValue | Missing {
  const read = Object.hasOwn(near, field) ? near[field] : undefined;
  if (read) {
    const text = read(event);
    return text === undefined ? absent : { kind: "string", text };
  }
  if (field === "tag") return listed(event.tags);
  if (Object.hasOwn(event.facets, field)) return listed(event.facets[field] ?? []);
  // Facets come with every event, but for those that it has not.
  return isWrittenField(field) ? far(event, field) : absent;
}

function listed(values: readonly string[]): CellValue {
  const [first] = values;
  if (first === undefined) return absent;
  return values.length === 1
    ? { kind: "string", text: first }
    : { kind: "several", text: JSON.stringify(values) };
}

export function isNumber(cell: CellValue | Missing): boolean {
  return typeof cell !== "string" && cell.kind === "number";
}

/** The fields that hold numbers, by the first events that have them: their digits stand one below the other. */
export function numeric(
  fields: readonly Field[],
  events: readonly Event[],
  far: FarCells,
): ReadonlySet<Field> {
  const sample = events.slice(0, 20);
  return new Set(
    fields.filter((field) => {
      const told = sample
        .map((event) => cellOf(event, field, far))
        .find((cell) => typeof cell !== "string" && cell.kind !== "absent");
      return told !== undefined && isNumber(told);
    }),
  );
}

/** What a filter on the cell asks for; undefined where there can be none. */
export function searched(field: Field, cell: CellValue | Missing): TypedValue | undefined {
  if (typeof cell === "string" || isPlainColumn(field)) return undefined;
  const { kind, text } = cell;
  if (kind === "object" || kind === "array" || kind === "several") return undefined;
  return { kind: kind === "string" && text === "" ? "empty" : kind, text };
}

/** Why there is no filter on the cell; undefined where there is one, or nothing stands in it. */
export function unsearched(field: Field, cell: CellValue | Missing): string | undefined {
  if (isPlainColumn(field)) return "No filter can be on this column.";
  if (typeof cell === "string") return "The value is not read, so there is no filter on it.";
  const { kind } = cell;
  if (kind === "several") return "The cell has several values: open the event and choose one of them.";
  if (kind === "object" || kind === "array")
    return `No filter can be on a whole ${kind}: open the event and choose a value in it.`;
  return undefined;
}

/** What is copied of a cell. */
export function copied(cell: CellValue | Missing): string | undefined {
  return typeof cell === "string" || cell.kind === "absent" ? undefined : cell.text;
}

/** An id of a cell in the document, whatever the field's name has in it. */
export function cellId(row: string, field: Field, column: number): string {
  return `${row}-${/^[a-z]+$/i.test(field) ? field : `column${column}`}`;
}
