import type { Event, EventDetail } from "#/api/oriel.gen.ts";
import { eventPath, shortName } from "#/lib/event-name.ts";
import { formatQuery, type OpenEvent, type Surrounding } from "#/lib/search.ts";
import { summarise } from "#/lib/summary.ts";
import { dateAndTime, lag, shortDay, timeOfDay } from "#/lib/time.ts";
import { elideMiddle, spelled } from "#/lib/visible.ts";
import { useNarrow } from "#/ui/narrow.ts";
import { SeverityMark } from "#/ui/severity.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";

/** One of the events around another: when, how far from it, and what. */
export function NeighbourRow({
  event,
  anchor = false,
  detail,
  by,
  wide,
  onOpen,
}: {
  event: Event;
  /** It is the event itself. */
  anchor?: boolean;
  detail: EventDetail;
  by: Surrounding;
  wide: boolean;
  onOpen: (event: OpenEvent) => void;
}) {
  const zone = useZone();
  const narrow = useNarrow();
  // Both ends of a type in sight: what is cut at its end looks like its neighbours.
  const columns = wide ? 32 : narrow ? 20 : 26;
  const open = { name: shortName(event.name), time: event.occurredAt };
  const day = shortDay(event.occurredAt, zone);
  const otherDay = day !== shortDay(detail.event.occurredAt, zone);
  const cells = (
    <>
      <time dateTime={event.occurredAt} title={dateAndTime(event.occurredAt, zone, 6)} className="text-ink-2">
        {otherDay ? `${day} ${timeOfDay(event.occurredAt, zone, 0)}` : timeOfDay(event.occurredAt, zone)}
      </time>
      <span className="grid place-items-center" title={event.severity}>
        {event.severity && <SeverityMark level={event.severity} />}
        {event.severity && <span className="sr-only">{event.severity}</span>}
      </span>
      <span className="min-w-0 cut" title={spelled(event.type)}>
        <Visible text={elideMiddle(event.type, columns)} />
      </span>
      {wide && <Apart event={event} by={by} />}
      <span className="text-right whitespace-nowrap text-ink-3">
        {anchor ? (
          <b className="font-sans t-11 font-semibold text-accent">this event</b>
        ) : (
          distance(detail.event, event)
        )}
      </span>
    </>
  );
  const grid = wide
    ? "grid-cols-[104px_14px_minmax(0,2fr)_minmax(0,3fr)_72px]"
    : "grid-cols-[96px_14px_minmax(0,1fr)_72px]";
  const look = `grid h-10 items-center gap-2 px-4 mono-12 wide:h-7 ${grid}`;
  if (anchor) {
    return (
      <li aria-current="true" className={`${look} border-l-2 border-accent bg-accent-tint pl-3.5`}>
        {cells}
      </li>
    );
  }
  return (
    <li>
      <a
        href={`${eventPath(open.name)}${formatQuery({ time: [open.time] })}`}
        className={`${look} -outline-offset-2 hover:bg-hover`}
        onClick={(click) => {
          if (click.metaKey || click.ctrlKey || click.shiftKey || click.button !== 0) return;
          click.preventDefault();
          onOpen(open);
        }}
      >
        {cells}
      </a>
    </li>
  );
}

/** What tells it from its neighbours: not what they have in common. */
function Apart({ event, by }: { event: Event; by: Surrounding }) {
  const { badge, parts } = summarise(event);
  const names =
    by === "source" ? [event.subject] : by === "subject" ? [event.source] : [event.source, event.subject];
  return (
    <span className="min-w-0 cut text-ink-3">
      {names
        .filter((name) => name !== undefined)
        .map((name) => (
          <span key={name} className="mr-3 text-ink-2">
            <Visible text={elideMiddle(name, 24)} />
          </span>
        ))}
      {badge && <span className="mr-2">{badge}</span>}
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line never move
        <span key={index} className={part.kind === "value" ? "mr-2 text-ink-2" : "mr-1"}>
          <Visible text={part.text} />
        </span>
      ))}
    </span>
  );
}

function distance(from: Event, to: Event): string {
  const later = Date.parse(to.occurredAt) >= Date.parse(from.occurredAt);
  return `${later ? "+" : "−"}${lag(from.occurredAt, to.occurredAt).replace("-", "")}`;
}
