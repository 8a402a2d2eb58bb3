import type { Ref } from "react";
import { offsetLabel } from "#/lib/time.ts";
import { Icon } from "#/ui/icons.tsx";

const names = ["Severity", "Type", "Source", "Subject", "Summary"];

export function ListHead({
  ref,
  zone,
  day,
  at,
}: {
  ref: Ref<HTMLDivElement>;
  zone: string;
  /** The day of the first row in view, where it is not today. */
  day: string | undefined;
  /** The instant of which the zone's offset is told. */
  at: number;
}) {
  return (
    <div role="rowgroup" className="sticky top-0 z-10 hidden bg-surface wide:block">
      <div
        ref={ref}
        role="row"
        aria-rowindex={1}
        className="grid h-7 grid-cols-(--list-columns) items-center gap-x-2 border-b border-line px-3 t-11 font-medium whitespace-nowrap text-ink-2"
      >
        <span
          role="columnheader"
          aria-sort="descending"
          className="flex items-center gap-1 overflow-hidden"
          title={`Newest first, in ${zone}`}
        >
          <span className="cut">
            {day ?? "Time"}, {offsetLabel(at, zone)}
          </span>
          <Icon name="sort" small />
        </span>
        {names.map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
      </div>
    </div>
  );
}
