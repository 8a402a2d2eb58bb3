import { type CSSProperties, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Column, Field, Search } from "#/lib/search.ts";
import {
  asShown,
  kept,
  mostColumns,
  moveColumn,
  resizeColumn,
  tracksOf,
  usualColumns,
  withColumn,
  withoutColumn,
} from "./columns.ts";

export interface Columns {
  readonly shown: readonly Column[];
  /** The properties that the rows are laid out by; none where the columns are the usual ones. */
  readonly style: CSSProperties;
  /** As the list is shown now; it is told to those who change a column. */
  readonly setMeasure: (measure: () => ReadonlyMap<Field, number>) => void;
  readonly has: (field: Field) => boolean;
  /** Why no column can be added. */
  readonly full: string | undefined;
  readonly add: (field: Field) => void;
  readonly remove: (field: Field) => void;
  readonly move: (field: Field, to: number) => void;
  readonly resizing: (field: Field, width: number) => void;
  readonly resize: (field: Field, width: number | undefined) => void;
  readonly reset: () => void;
}

const fullText = `A list has at most ${mostColumns} columns. Remove one first.`;

/** The columns as the URL has them, and what changes them. */
export function useColumns(
  columns: Search["columns"],
  onChange: (columns: Search["columns"]) => void,
): Columns {
  const current = columns ?? usualColumns;
  /** Of the column whose edge is dragged; the address has it as it is let go. */
  const [dragged, setDragged] = useState<readonly Column[]>();
  const measure = useRef<() => ReadonlyMap<Field, number>>(() => new Map());
  const setMeasure = useCallback((next: () => ReadonlyMap<Field, number>) => {
    measure.current = next;
  }, []);
  // Not before the address has it, or the old width would be seen once more.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the address has ends what was dragged
  useEffect(() => setDragged(undefined), [columns]);
  const shown = dragged ?? current;
  const custom = dragged !== undefined || columns !== undefined;

  const style = useMemo<CSSProperties>(() => {
    if (!custom) return {};
    const { tracks, least } = tracksOf(shown);
    return { "--list-columns": tracks, "--list-least": `${least}px` } as CSSProperties;
  }, [custom, shown]);

  return useMemo(() => {
    const frozen = () => (columns ? current : asShown(current, measure.current()));
    const change = (next: readonly Column[]) => {
      const asked = kept(next);
      if (asked === undefined && columns === undefined) setDragged(undefined);
      else onChange(asked);
    };
    return {
      shown,
      style,
      setMeasure,
      has: (field) => current.some((column) => column.field === field),
      full: current.length >= mostColumns ? fullText : undefined,
      add: (field) => change(withColumn(frozen(), field)),
      remove: (field) => change(withoutColumn(frozen(), field)),
      move: (field, to) => change(moveColumn(frozen(), field, to)),
      resizing: (field, width) => setDragged((before) => resizeColumn(before ?? frozen(), field, width)),
      resize: (field, width) => change(resizeColumn(dragged ?? frozen(), field, width)),
      reset: () => change(usualColumns),
    };
  }, [shown, style, setMeasure, current, columns, dragged, onChange]);
}
