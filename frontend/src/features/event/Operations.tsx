import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { type AuditEntry, type EventDetail, listAuditEntries } from "#/api/oriel.gen.ts";
import { underBase } from "#/lib/base.ts";
import { eventPath, shortName } from "#/lib/event-name.ts";
import { formatQuery } from "#/lib/search.ts";
import { dateAndTime } from "#/lib/time.ts";
import { useCaller } from "#/ui/access.tsx";
import { Button } from "#/ui/controls.tsx";
import { Icon, type IconName } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";

/** The audit log takes no longer a target. */
const longestTarget = 200;

interface Step {
  readonly key: string;
  /** RFC 3339; the newest comes first. */
  readonly time: string;
  readonly icon: IconName;
  readonly tone: string;
  readonly what: ReactNode;
  readonly by: string;
}

/** What became of an event: when it came, its other times, and what people did to it. */
export function Operations({ detail }: { detail: EventDetail }) {
  const zone = useZone();
  const { event } = detail;
  const may = useCaller()?.scopes.includes("admin:read") === true && event.name.length <= longestTarget;
  const audit = useQuery({
    queryKey: ["event-audit", event.name],
    queryFn: ({ signal }) => listAuditEntries({ target: [event.name], pageSize: 50 }, { signal }),
    enabled: may,
    staleTime: 0,
  });
  const steps = [...(audit.data?.entries ?? []).map(done), ...came(detail)].toSorted(
    (a, b) => Date.parse(b.time) - Date.parse(a.time),
  );
  return (
    <>
      <ol>
        {steps.map((step) => (
          <li key={step.key} className="grid grid-cols-[16px_minmax(0,1fr)] gap-2 py-1.5 t-12">
            <Icon name={step.icon} className={step.tone} />
            <span className="min-w-0 wrap-anywhere">
              {step.what}
              <span className="block text-ink-3">
                <Visible text={step.by} />, {dateAndTime(step.time, zone)}
              </span>
            </span>
          </li>
        ))}
      </ol>
      {audit.error && (
        <p className="flex flex-wrap items-center gap-2 py-1 t-12 text-ink-2">
          What people did to it could not be read.
          <Button size="small" icon="refresh" onClick={() => void audit.refetch()}>
            Try again
          </Button>
        </p>
      )}
      {audit.data?.nextPageToken !== undefined && (
        <p className="py-1 t-12">
          <a className="text-accent underline underline-offset-2" href={auditPath(event.name)}>
            Older ones in the audit log
          </a>
        </p>
      )}
    </>
  );
}

function auditPath(target: string): string {
  return underBase(`/admin/audit${formatQuery({ target: [target] })}`);
}

const outcomes: Readonly<Record<AuditEntry["outcome"], { icon: IconName; tone: string }>> = {
  unknown: { icon: "clock", tone: "text-ink-3" },
  done: { icon: "check", tone: "text-accent" },
  refused: { icon: "lock", tone: "text-warning" },
  failed: { icon: "alert", tone: "text-error" },
};

function done(entry: AuditEntry): Step {
  const { icon, tone } = outcomes[entry.outcome];
  return {
    key: entry.name,
    time: entry.intentTime,
    icon,
    tone,
    what: (
      <a className="text-ink hover:underline" href={auditPath(entry.target)}>
        <span className="mono-12">
          <Visible text={entry.action} />
        </span>{" "}
        {entry.outcome === "unknown" ? "without a known end" : entry.outcome}
        {entry.reason !== "" && (
          <>
            : “<Visible text={entry.reason} />”
          </>
        )}
      </a>
    ),
    by: entry.actor,
  };
}

function came(detail: EventDetail): Step[] {
  const { event, others } = detail;
  const { topic, partition, offset } = event.position;
  const stored: Step = {
    key: "stored",
    time: event.ingestTime,
    icon: "check",
    tone: "text-accent",
    what: "Received and stored",
    by: `${topic}/${partition}/${offset}`,
  };
  const erased: Step[] =
    detail.erasedAt === undefined
      ? []
      : [
          {
            key: "erased",
            time: detail.erasedAt,
            icon: "close",
            tone: "text-error",
            what: "Its data was erased",
            by: "erasure",
          },
        ];
  return [
    ...erased,
    stored,
    ...others.map(
      (other): Step => ({
        key: other.occurredAt,
        time: other.occurredAt,
        icon: "clock",
        tone: "text-ink-3",
        what: (
          <a
            className="text-accent underline underline-offset-2"
            href={`${eventPath(shortName(other.name))}${formatQuery({ time: [other.occurredAt] })}`}
          >
            The same source and id at another time
          </a>
        ),
        by: "another event",
      }),
    ),
  ];
}
