import { type DragEvent, type PointerEvent, type Ref, useRef, useState } from "react";
import type { Column, Field } from "#/lib/search.ts";
import { offsetLabel } from "#/lib/time.ts";
import { spelled } from "#/lib/visible.ts";
import { Icon } from "#/ui/icons.tsx";
import { Menu, type MenuItem } from "#/ui/popover.tsx";
import { Visible } from "#/ui/visible.tsx";
import { clampWidth, columnTitle, isPlainColumn } from "./columns.ts";

/** What can be done with a column. */
export interface ColumnActions {
  readonly move: (field: Field, to: number) => void;
  /** While it is dragged, and as it is let go; undefined is the usual width. */
  readonly resizing: (field: Field, width: number) => void;
  readonly resize: (field: Field, width: number | undefined) => void;
  readonly remove: (field: Field) => void;
  readonly breakdown: (field: Field) => void;
}

export function ListHead({
  ref,
  columns,
  known,
  numeric,
  zone,
  day,
  at,
  actions,
}: {
  ref: Ref<HTMLDivElement>;
  columns: readonly Column[];
  /** Whether there can be such a field. */
  known: (field: Field) => boolean;
  /** Those that stand at the right. */
  numeric: ReadonlySet<Field>;
  zone: string;
  /** The day of the first row in view, where it is not today. */
  day: string | undefined;
  /** The instant of which the zone's offset is told. */
  at: number;
  actions: ColumnActions;
}) {
  const [dragged, setDragged] = useState<Field>();
  const [over, setOver] = useState<Field>();
  const drag = (field: Field, index: number) => ({
    draggable: true,
    onDragStart: (event: DragEvent) => {
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", field);
      setDragged(field);
    },
    onDragEnd: () => {
      setDragged(undefined);
      setOver(undefined);
    },
    onDragOver: (event: DragEvent) => {
      if (dragged === undefined) return;
      event.preventDefault();
      setOver(field);
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      if (dragged !== undefined) actions.move(dragged, index);
    },
  });
  return (
    <div
      role="rowgroup"
      className="sticky top-0 z-10 hidden min-w-(--list-least) bg-surface wide:block"
      data-list-head
    >
      <div
        ref={ref}
        role="row"
        aria-rowindex={1}
        className="grid h-7 grid-cols-(--list-columns) items-center gap-x-2 border-b border-line px-3 t-11 font-medium whitespace-nowrap text-ink-2"
      >
        {columns.map(({ field }, index) => (
          <span
            key={field}
            role="columnheader"
            aria-sort={field === "time" ? "descending" : undefined}
            className={`group/head relative flex h-full items-center ${numeric.has(field) ? "justify-end" : ""} ${over === field && dragged !== field ? "bg-accent-tint" : ""}`}
            {...drag(field, index)}
          >
            <Menu
              label={`Column ${columnTitle(field)}`}
              items={menuOf(columns, index, actions)}
              trigger={{
                className: `flex h-full min-w-0 cursor-default items-center gap-1 hover:text-ink ${known(field) ? "" : "text-warning"}`,
                tabIndex: -1,
                title: titleOf(field, zone, known(field)),
                children:
                  field === "time" ? (
                    <>
                      <span className="cut">
                        {day ?? "Time"}, {offsetLabel(at, zone)}
                      </span>
                      <Icon name="sort" small />
                    </>
                  ) : (
                    <span className={`cut ${field === columnTitle(field) ? "mono-11" : ""}`}>
                      <Visible text={columnTitle(field)} />
                    </span>
                  ),
              }}
            />
            <Handle field={field} actions={actions} />
          </span>
        ))}
      </div>
    </div>
  );
}

function titleOf(field: Field, zone: string, known: boolean): string {
  if (!known) return `There is no field ${spelled(field)}`;
  return field === "time" ? `Newest first, in ${zone}` : spelled(field);
}

function menuOf(columns: readonly Column[], index: number, actions: ColumnActions): MenuItem[][] {
  const column = columns[index];
  if (!column) return [];
  const { field, width } = column;
  const groups: MenuItem[][] = [
    isPlainColumn(field)
      ? []
      : [{ label: "Open breakdown", icon: "bars", onSelect: () => actions.breakdown(field) }],
    [
      ...(index > 0
        ? [{ label: "Move left", icon: "left" as const, onSelect: () => actions.move(field, index - 1) }]
        : []),
      ...(index < columns.length - 1
        ? [{ label: "Move right", icon: "right" as const, onSelect: () => actions.move(field, index + 1) }]
        : []),
      ...(width === undefined
        ? []
        : [{ label: "Usual width", onSelect: () => actions.resize(field, undefined) }]),
    ],
    columns.length > 1
      ? [{ label: "Remove column", icon: "close", onSelect: () => actions.remove(field) }]
      : [],
  ];
  return groups.filter((group) => group.length > 0);
}

/** The edge of a column, which can be dragged; with the keyboard its width is set among the columns. */
function Handle({ field, actions }: { field: Field; actions: ColumnActions }) {
  const start = useRef<{ readonly x: number; readonly width: number }>(undefined);
  const widthAt = (event: PointerEvent) =>
    start.current && clampWidth(start.current.width + event.clientX - start.current.x);
  return (
    <span
      aria-hidden="true"
      data-resize={field}
      title="Drag for another width, double-click for the usual one"
      draggable
      // The edge is not what moves the column.
      onDragStart={(event) => {
        event.preventDefault();
        event.stopPropagation();
      }}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        const cell = event.currentTarget.parentElement;
        start.current = { x: event.clientX, width: cell?.offsetWidth ?? 0 };
      }}
      onPointerMove={(event) => {
        const width = widthAt(event);
        if (width !== undefined) actions.resizing(field, width);
      }}
      onPointerUp={(event) => {
        const width = widthAt(event);
        const moved = start.current !== undefined && event.clientX !== start.current.x;
        start.current = undefined;
        if (width !== undefined && moved) actions.resize(field, width);
      }}
      onPointerCancel={() => {
        start.current = undefined;
      }}
      onDoubleClick={() => actions.resize(field, undefined)}
      className="absolute inset-y-0 -right-2 z-10 flex w-2 cursor-col-resize touch-none justify-center after:my-1.5 after:w-px after:bg-line-2 after:opacity-0 group-hover/head:after:opacity-100 hover:after:bg-focus"
    />
  );
}
