import { useQuery } from "@tanstack/react-query";
import { Link, useRouter, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { parseEventName } from "#/lib/event-name.ts";
import { applyAction, formatQuery, type OpenEvent, type Params, writeSearch } from "#/lib/search.ts";
import { dateAndTime } from "#/lib/time.ts";
import { Button, buttonClass, Skeleton } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Severity } from "#/ui/severity.tsx";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { Attributes, Extensions, lagText, Position } from "./Attributes.tsx";
import { EventActions } from "./actions.tsx";
import { EventData } from "./EventData.tsx";
import { EventFailed } from "./EventFailed.tsx";
import { Others } from "./Others.tsx";
import { eventQuery } from "./query.ts";

/** The page of one event, at an address that stays. */
export function EventPage({ open }: { open: OpenEvent }) {
  const { data: detail, error, refetch } = useQuery(eventQuery(open));
  const router = useRouter();
  const zoneParam = useRouterState({ select: (state) => (state.location.search as Params).zone });
  const event = detail?.event;
  useEffect(() => {
    if (!event) return;
    document.title = `${event.type} · Oriel`;
  }, [event]);
  const toExplorer = (params: Params) => router.history.push(`/explore${formatQuery(params)}`);
  const window = event && around(event.occurredAt);
  const empty = {
    query: "",
    filters: [],
    from: window?.from,
    until: window?.until,
    open: undefined,
    unknown: {},
  };
  const onAction: OnValueAction = (field, value, action) =>
    toExplorer(writeSearch({ ...empty, filters: applyAction([], field, value, action) }, zoneParam));
  return (
    <main className="flex min-h-0 flex-1 flex-col gap-3 overflow-auto px-4 pt-3 pb-6 wide:pt-4">
      <Heading
        open={open}
        detail={detail}
        onAround={() => toExplorer(writeSearch({ ...empty, open }, zoneParam))}
      />
      {error && !detail && <EventFailed open={open} error={error} onRetry={() => void refetch()} />}
      {!error && !detail && <LoadingPanels />}
      {detail && (
        <>
          <Others detail={detail} />
          <div className="grid items-start gap-3 wide:grid-cols-[minmax(0,1fr)_minmax(280px,400px)]">
            <section
              aria-label="Data"
              className="min-w-0 overflow-hidden rounded-3 border border-line bg-surface"
            >
              <EventData key={`${open.name} ${open.time}`} detail={detail} wide />
            </section>
            <div className="grid min-w-0 gap-3">
              <Panel heading="Attributes">
                <Attributes detail={detail} onAction={onAction} />
                <h3 className="mt-3 mb-0.5 t-12 font-semibold text-ink-2">Extensions</h3>
                <Extensions extensions={detail.extensions} />
              </Panel>
              <Panel heading="Position">
                <Position detail={detail} />
              </Panel>
            </div>
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
  onAround,
}: {
  open: OpenEvent;
  detail: EventDetail | undefined;
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
      <h1 className="min-w-0 cut font-mono text-[14px]/5 font-semibold" title={event?.type}>
        <Visible text={event?.type ?? parseEventName(open.name)?.id ?? open.name} />
      </h1>
      <span className="mono-12 text-ink-3">
        {event
          ? `${dateAndTime(event.occurredAt, zone)} · received ${lagText(event.occurredAt, event.ingestTime)}`
          : ""}
      </span>
      <span className="flex-1" />
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
    </div>
  );
}

function zoneLink(zone: string): Params {
  return zone === "UTC" ? {} : { zone: [zone] };
}

function Panel({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <section className="min-w-0 rounded-3 border border-line bg-surface">
      <h2 className="flex min-h-10 items-center border-b border-line px-4 t-13 font-semibold">{heading}</h2>
      <div className="px-4 py-3">{children}</div>
    </section>
  );
}

function LoadingPanels() {
  return (
    <div
      role="status"
      aria-label="Reading the event"
      className="grid items-start gap-3 wide:grid-cols-[minmax(0,1fr)_minmax(280px,400px)]"
    >
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
