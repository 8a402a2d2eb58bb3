import { Link, useRouter, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { underBase } from "#/lib/base.ts";
import { parseEventName } from "#/lib/event-name.ts";
import { ApiError } from "#/lib/http.ts";
import {
  applyAction,
  emptySearch,
  formatQuery,
  type OpenEvent,
  type Params,
  writeSearch,
} from "#/lib/search.ts";
import { Button, buttonClass, Skeleton } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Severity } from "#/ui/severity.tsx";
import { Slow } from "#/ui/slow.tsx";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { useZone } from "#/ui/zone.tsx";
import { Attributes, Extensions, Position, Times } from "./Attributes.tsx";
import { EventActions } from "./actions.tsx";
import { EventData } from "./EventData.tsx";
import { EventFailed } from "./EventFailed.tsx";
import { EventTitle } from "./EventTitle.tsx";
import { Others } from "./Others.tsx";
import { useEvent } from "./query.ts";

/** The page of one event, at an address that stays. */
export function EventPage({ open }: { open: OpenEvent }) {
  const read = useEvent(open);
  const { detail, error } = read;
  const failed = error !== undefined || read.cancelled;
  const dead = error instanceof ApiError && !error.transient;
  const router = useRouter();
  const zoneParam = useRouterState({ select: (state) => (state.location.search as Params).zone });
  const event = detail?.event;
  useEffect(() => {
    document.title = `${event?.type ?? "Event"} · Oriel`;
  }, [event]);
  const toExplorer = (params: Params) => router.history.push(underBase(`/explore${formatQuery(params)}`));
  const window = event && around(event.occurredAt);
  const empty = {
    ...emptySearch,
    from: window?.from,
    until: window?.until,
    zone: zoneParam?.[0],
  };
  const onAction: OnValueAction = (field, value, action) =>
    toExplorer(writeSearch({ ...empty, filters: applyAction([], field, value, action) }));
  return (
    <main className="flex min-h-0 flex-1 flex-col gap-3 overflow-auto px-4 pt-3 pb-6 wide:pt-4">
      <Heading
        open={open}
        detail={detail}
        dead={dead}
        onAround={() => toExplorer(writeSearch({ ...empty, open }))}
      />
      {failed && <EventFailed open={open} read={read} />}
      {!failed && !detail && <LoadingPanels key={open.name} onCancel={read.cancel} />}
      {detail && (
        <>
          <Others detail={detail} />
          {/* Attributes stand beside data and position, so that neither column is much the longer. */}
          <div className="grid items-start gap-3 wide:grid-cols-[minmax(0,1fr)_minmax(280px,400px)] wide:grid-rows-[auto_1fr]">
            <section
              aria-label="Data"
              className="min-w-0 overflow-hidden rounded-3 border border-line bg-surface"
            >
              <EventData key={`${open.name} ${open.time}`} detail={detail} wide onAction={onAction} />
            </section>
            <Panel heading="Attributes" className="wide:row-span-2">
              <Attributes detail={detail} onAction={onAction} />
              <h3 className="mt-3 mb-0.5 t-12 font-semibold text-ink-2">Extensions</h3>
              <Extensions extensions={detail.extensions} />
            </Panel>
            <Panel heading="Position">
              <Position detail={detail} />
            </Panel>
          </div>
        </>
      )}
    </main>
  );
}

const halfWindow = 5 * 60_000;

/** Ten minutes with the event in the middle. */
function around(time: string): { from: string; until: string } {
  const ms = Date.parse(time);
  return { from: new Date(ms - halfWindow).toISOString(), until: new Date(ms + halfWindow).toISOString() };
}

function Heading({
  open,
  detail,
  dead,
  onAround,
}: {
  open: OpenEvent;
  detail: EventDetail | undefined;
  /** There is nothing to act on. */
  dead: boolean;
  onAround: () => void;
}) {
  const zone = useZone();
  const router = useRouter();
  const event = detail?.event;
  const backTo = zoneLink(zone);
  return (
    <div className="flex min-h-8 flex-none flex-wrap items-center gap-2">
      <Link
        to="/explore"
        search={backTo}
        className={buttonClass("ghost", "normal", true)}
        title="Back to results"
        aria-label="Back to results"
        onClick={(click) => {
          if (!router.history.canGoBack()) return;
          click.preventDefault();
          router.history.back();
        }}
      >
        <Icon name="left" />
      </Link>
      {event?.severity && <Severity level={event.severity} />}
      <div className="min-w-0 flex-1 basis-100 max-wide:contents">
        <EventTitle as="h1" size={14} text={event?.type ?? parseEventName(open.name)?.id ?? open.name} />
        <p className="cut mono-12 text-ink-3 max-wide:basis-full">{event && <Times event={event} />}</p>
      </div>
      {!dead && (
        <span className="flex max-w-full gap-2 overflow-x-auto">
          <EventActions open={open} detail={detail} size="normal" />
          <Button
            icon="around"
            onClick={onAround}
            unavailable={event ? undefined : "The event is still being read."}
            title="Search the ten minutes around it"
          >
            Around it
          </Button>
        </span>
      )}
    </div>
  );
}

function zoneLink(zone: string): Params {
  return zone === "UTC" ? {} : { zone: [zone] };
}

function Panel({
  heading,
  className = "",
  children,
}: {
  heading: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <section className={`min-w-0 rounded-3 border border-line bg-surface ${className}`}>
      <h2 className="flex min-h-10 items-center border-b border-line px-4 t-13 font-semibold">{heading}</h2>
      <div className="px-4 py-3">{children}</div>
    </section>
  );
}

function LoadingPanels({ onCancel }: { onCancel: () => void }) {
  return (
    <div
      role="status"
      aria-label="Reading the event"
      className="grid items-start gap-3 wide:grid-cols-[minmax(0,1fr)_minmax(280px,400px)]"
    >
      <span className="min-h-6 wide:col-span-2">
        <Slow word="" onCancel={onCancel} />
      </span>
      {[0, 1].map((panel) => (
        <div
          key={panel}
          className="grid h-80 content-start gap-4 rounded-3 border border-line bg-surface p-4"
        >
          {["60%", "45%", "70%", "52%", "38%"].map((width) => (
            <Skeleton key={width} width={width} />
          ))}
        </div>
      ))}
    </div>
  );
}
