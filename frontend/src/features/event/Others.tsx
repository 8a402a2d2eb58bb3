import type { EventDetail } from "#/api/oriel.gen.ts";
import { eventPath, shortName } from "#/lib/event-name.ts";
import { formatQuery } from "#/lib/search.ts";
import { dateAndTime } from "#/lib/time.ts";
import { Note } from "#/ui/controls.tsx";
import { useZone } from "#/ui/zone.tsx";

/** The same source and id at other times are other events; this one never stands for them. */
export function Others({ detail }: { detail: EventDetail }) {
  const zone = useZone();
  if (detail.others.length === 0) return null;
  return (
    <Note
      look="info"
      flush
      fact={`The same source and id occur at ${detail.others.length} other ${detail.others.length === 1 ? "time" : "times"}.`}
    >
      <ul className="mt-1 mono-11">
        {detail.others.map((other) => (
          <li key={other.occurredAt}>
            <a
              className="text-accent underline underline-offset-2"
              href={`${eventPath(shortName(other.name))}${formatQuery({ time: [other.occurredAt] })}`}
            >
              {dateAndTime(other.occurredAt, zone)}
            </a>
          </li>
        ))}
      </ul>
    </Note>
  );
}
