import type { EventDetail } from "#/api/oriel.gen.ts";
import { useCaller } from "#/ui/access.tsx";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";

/** Where a trace is looked at, as the installation has it. */
export function traceAddress(template: string, traceId: string): string {
  return template.replaceAll("{traceId}", encodeURIComponent(traceId));
}

/** The way to the event's trace, outside of here; or why there is none. */
export function TraceLink({ detail, size }: { detail: EventDetail | undefined; size: "small" | "normal" }) {
  const session = useCaller();
  const word = size === "small" ? "Trace" : "Open trace";
  const template = session?.traceUrl;
  const traceId = detail?.traceId;
  if (template !== undefined && traceId !== undefined) {
    return (
      <a
        href={traceAddress(template, traceId)}
        target="_blank"
        rel="noreferrer"
        className={buttonClass("plain", size)}
        title={`Trace ${traceId}, in a new tab`}
      >
        <Icon name="trace" className="-ml-0.5 text-ink-2" />
        {word}
      </a>
    );
  }
  return (
    <Button size={size} icon="trace" unavailable={whyNot(detail, session !== undefined)}>
      {word}
    </Button>
  );
}

function whyNot(detail: EventDetail | undefined, asked: boolean): string {
  if (!detail) return "The event is still being read.";
  if (detail.traceId === undefined) return "This event has no trace.";
  if (!asked) return "Where traces are looked at is still being read.";
  return "This installation names no place to look at traces (ORIEL_TRACE_URL). Its events: Trace, under Surroundings.";
}
