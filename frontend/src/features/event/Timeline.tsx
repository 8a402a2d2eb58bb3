import { useMemo } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import { shortName } from "#/lib/event-name.ts";
import type { OpenEvent, Surrounding } from "#/lib/search.ts";
import { lag, timeOfDay } from "#/lib/time.ts";
import { elideMiddle, spelled } from "#/lib/visible.ts";
import { SeverityMark } from "#/ui/severity.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { lanesOf, spanText } from "./lanes.ts";

/** The same events as in the rows below, as they lie in time; the rows say it in words. */
export function Timeline({
  anchor,
  others,
  by,
  onOpen,
}: {
  anchor: Event;
  others: readonly Event[];
  by: Surrounding;
  onOpen: (event: OpenEvent) => void;
}) {
  const zone = useZone();
  const { lanes, span } = useMemo(() => lanesOf(anchor, others, by), [anchor, others, by]);
  return (
    <div aria-hidden="true" className="border-b border-line px-4 pb-2">
      {lanes.map(({ label, marks }) => (
        <div
          key={label ?? ""}
          className="grid h-7 grid-cols-[132px_minmax(0,1fr)] items-center border-b border-line"
        >
          <span className="cut pr-2 mono-11 text-ink-2" title={label && spelled(label)}>
            {label === undefined ? (
              <span className="font-sans text-ink-3">others</span>
            ) : (
              <Visible text={elideMiddle(label, 18)} />
            )}
          </span>
          <span className="relative mx-1.5 block h-full">
            <span className="absolute inset-y-0 left-1/2 border-l border-dashed border-accent" />
            {marks.map((mark) => (
              <button
                key={`${mark.event.name} ${mark.event.occurredAt}`}
                type="button"
                tabIndex={-1}
                disabled={mark.anchor}
                className="absolute top-1.5 -ml-2 grid size-4 place-items-center rounded-1 enabled:hover:bg-active"
                style={{ left: `${(mark.at * 100).toFixed(2)}%` }}
                title={mark.anchor ? "This event" : spelled(titleOf(anchor, mark.event))}
                onClick={() => onOpen({ name: shortName(mark.event.name), time: mark.event.occurredAt })}
              >
                {mark.event.severity ? (
                  <SeverityMark level={mark.event.severity} />
                ) : (
                  <span className="size-2 rounded-full border border-surface bg-ink-3" />
                )}
              </button>
            ))}
          </span>
        </div>
      ))}
      <div className="grid grid-cols-[132px_minmax(0,1fr)] pt-1 t-11 text-ink-3">
        <span />
        <span className="grid grid-cols-[1fr_1fr_auto_1fr_1fr] tabular-nums">
          <span>−{spanText(span)}</span>
          <span className="text-center">−{spanText(span / 2)}</span>
          <b className="font-semibold text-accent">{timeOfDay(anchor.occurredAt, zone)}</b>
          <span className="text-center">+{spanText(span / 2)}</span>
          <span className="text-right">+{spanText(span)}</span>
        </span>
      </div>
    </div>
  );
}

function titleOf(anchor: Event, event: Event): string {
  const later = Date.parse(event.occurredAt) >= Date.parse(anchor.occurredAt);
  const apart = lag(anchor.occurredAt, event.occurredAt).replace("-", "");
  return `${event.type}, ${event.source}, ${later ? "+" : "−"}${apart}`;
}
