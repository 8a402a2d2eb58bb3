/** The columns of the list: which there are, how wide, and what changing them makes of them. */
import type { Column, Field } from "#/lib/search.ts";

/** Where nobody chose others. */
export const usualColumns: readonly Column[] = [
  { field: "time" },
  { field: "severity" },
  { field: "type" },
  { field: "source" },
  { field: "subject" },
  { field: "summary" },
];

const titles: Readonly<Record<string, string>> = {
  time: "Time",
  ingestTime: "Received",
  severity: "Severity",
  type: "Type",
  source: "Source",
  subject: "Subject",
  summary: "Summary",
};

/** As the head of the list names it; fields of others keep their own spelling. */
export function columnTitle(field: Field): string {
  return Object.hasOwn(titles, field) ? (titles[field] ?? field) : field;
}

/** What no filter can be on. */
export function isPlainColumn(field: Field): boolean {
  return field === "time" || field === "summary" || field === "ingestTime";
}

/** No more than the server reads at once. */
export const mostColumns = 16;
export const narrowestColumn = 48;
export const widestColumn = 1200;
export const summaryLeast = 160;

const widths: Readonly<Record<string, number>> = {
  time: 92,
  ingestTime: 92,
  severity: 92,
  type: 156,
  source: 138,
  subject: 110,
};
const usualWidth = 150;

/** In pixels; of the summary the least, as it takes what is left. */
export function columnWidth({ field, width }: Column): number {
  if (width !== undefined) return clampWidth(width);
  if (field === "summary") return summaryLeast;
  return Object.hasOwn(widths, field) ? (widths[field] ?? usualWidth) : usualWidth;
}

export function clampWidth(width: number): number {
  return Math.round(Math.min(Math.max(width, narrowestColumn), widestColumn));
}

const gap = 8;
const sides = 24;

/** The tracks of a grid, and how wide it is at least. The summary takes what is left, or the last one. */
export function tracksOf(columns: readonly Column[]): { readonly tracks: string; readonly least: number } {
  const growing = columns.findIndex(({ field, width }) => field === "summary" && width === undefined);
  const last = growing < 0 ? columns.length - 1 : growing;
  const tracks = columns.map((column, index) => {
    const width = columnWidth(column);
    return index === last ? `minmax(${width}px, 1fr)` : `${width}px`;
  });
  const sum = columns.reduce((total, column) => total + columnWidth(column), 0);
  return { tracks: tracks.join(" "), least: sum + gap * (columns.length - 1) + sides };
}

/**
 * The usual columns as they are shown now, so that none but the changed one moves. `measured` is their
 * width in pixels, by field.
 */
export function asShown(columns: readonly Column[], measured: ReadonlyMap<Field, number>): readonly Column[] {
  return columns.map((column) => {
    const width = measured.get(column.field);
    if (column.width !== undefined || column.field === "summary" || width === undefined) return column;
    return Math.round(width) === columnWidth(column) ? column : { ...column, width: clampWidth(width) };
  });
}

/** A new one stands before the summary, which takes what is left. */
export function withColumn(columns: readonly Column[], field: Field): readonly Column[] {
  if (columns.some((column) => column.field === field) || columns.length >= mostColumns) return columns;
  const summary = columns.findIndex((column) => column.field === "summary");
  return columns.toSpliced(summary < 0 ? columns.length : summary, 0, { field });
}

/** One column always stays. */
export function withoutColumn(columns: readonly Column[], field: Field): readonly Column[] {
  const rest = columns.filter((column) => column.field !== field);
  return rest.length === 0 ? columns : rest;
}

/** Moved to where another stands, which makes room. */
export function moveColumn(columns: readonly Column[], field: Field, to: number): readonly Column[] {
  const from = columns.findIndex((column) => column.field === field);
  const column = columns[from];
  const target = Math.max(0, Math.min(to, columns.length - 1));
  if (!column || from === target) return columns;
  return columns.toSpliced(from, 1).toSpliced(target, 0, column);
}

export function resizeColumn(
  columns: readonly Column[],
  field: Field,
  width: number | undefined,
): readonly Column[] {
  return columns.map((column) => {
    if (column.field !== field) return column;
    return width === undefined ? { field } : { field, width: clampWidth(width) };
  });
}

/** What the URL holds: nothing where they are the usual ones. */
export function kept(columns: readonly Column[]): readonly Column[] | undefined {
  const usual =
    columns.length === usualColumns.length &&
    columns.every(({ field, width }, index) => field === usualColumns[index]?.field && width === undefined);
  return usual ? undefined : columns;
}
