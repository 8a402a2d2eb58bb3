import type { Event } from "#/api/oriel.gen.ts";
import type { Field } from "#/lib/search.ts";
import { EventRow, type RowProps } from "./EventRow.tsx";
import { ListEnd } from "./ListEnd.tsx";
import type { Row } from "./rows.ts";
import type { HoveredCell } from "./useHoveredCell.ts";
import type { Found, Run } from "./useRun.ts";
import type { PlacedRow } from "./useVirtualRows.ts";

interface VirtualRowsProps {
  readonly items: readonly PlacedRow[];
  readonly height: number;
  readonly rows: readonly Row[];
  readonly run: Run;
  readonly found: Found;
  readonly cursor: number;
  readonly active: Field | undefined;
  readonly hovered: HoveredCell | undefined;
  /** What every row gets alike. */
  readonly shared: Pick<
    RowProps,
    "zone" | "columns" | "far" | "fits" | "marks" | "narrow" | "onAction" | "onCopy" | "onPick"
  >;
  readonly isPicked: (event: Event) => boolean;
}

/** The rows in sight, each at its place in the height of all. */
export function VirtualRows({ items, height, rows, ...rest }: VirtualRowsProps) {
  return (
    <div role="rowgroup" className="absolute inset-x-0 top-0 wide:min-w-(--list-least)" style={{ height }}>
      {items.map((item) => {
        const row = rows[item.index];
        return (
          row && (
            <div
              key={item.index}
              role="presentation"
              className="absolute inset-x-0 top-0"
              style={{ height: item.size, transform: `translateY(${item.start}px)` }}
            >
              <AnyRow row={row} {...rest} />
            </div>
          )
        );
      })}
    </div>
  );
}

function AnyRow({ row, ...rest }: { row: Row } & Omit<VirtualRowsProps, "items" | "height" | "rows">) {
  if (row.kind === "event") return <ResultRow index={row.index} {...rest} />;
  return (
    <div role="row" className="h-full">
      {row.kind === "day" ? (
        <div
          role="gridcell"
          className="flex h-full items-center bg-sunken px-4 t-11 font-medium text-ink-2 hairline wide:px-3"
        >
          {row.label}
        </div>
      ) : (
        <ListEnd run={rest.run} found={rest.found} zone={rest.shared.zone} />
      )}
    </div>
  );
}

function ResultRow({
  index,
  found,
  cursor,
  active,
  hovered,
  shared,
  isPicked,
}: { index: number } & Omit<VirtualRowsProps, "items" | "height" | "rows" | "run">) {
  const event = found.events[index];
  if (!event) return null;
  const current = index === cursor;
  return (
    <EventRow
      {...shared}
      event={event}
      index={index}
      id={`event-${index}`}
      current={current}
      picked={isPicked(event)}
      hovered={hovered?.index === index ? hovered.field : undefined}
      active={current ? active : undefined}
    />
  );
}
