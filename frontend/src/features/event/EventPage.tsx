import { Link, useRouter } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo } from "react";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { underBase } from "#/lib/base.ts";
import { eventPath, parseEventName } from "#/lib/event-name.ts";
import { ApiError } from "#/lib/http.ts";
import {
  applyAction,
  emptySearch,
  formatQuery,
  type OpenEvent,
  type Params,
  parseQuery,
  readSearch,
  writeSearch,
} from "#/lib/search.ts";
import { spelled } from "#/lib/visible.ts";
import { useFacetNames } from "#/ui/access.tsx";
import { Button, buttonClass, Skeleton } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Severity } from "#/ui/severity.tsx";
import { Slow } from "#/ui/slow.tsx";
import { useUrl } from "#/ui/url.ts";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { useZone } from "#/ui/zone.tsx";
import { Attributes, Extensions, Position, Times } from "./Attributes.tsx";
import { EventActions } from "./actions.tsx";
import { searchAround, windowAround } from "./around.ts";
import { EventData } from "./EventData.tsx";
import { EventFailed } from "./EventFailed.tsx";
import { EventTitle } from "./EventTitle.tsx";
import { Operations } from "./Operations.tsx";
import { Others } from "./Others.tsx";
import { useEvent } from "./query.ts";
import { Surroundings } from "./Surroundings.tsx";

/** The page of one event, at an address that stays. */
export function EventPage({ open }: { open: OpenEvent }) {
  const read = useEvent(open);
  const { detail, error } = read;
  const failed = error !== undefined || read.cancelled;
  const dead = error instanceof ApiError && !error.transient;
  const router = useRouter();
  const { params } = useUrl();
  const zoneParam = params.zone;
  const event = detail?.event;
  useEffect(() => {
    document.title = `${spelled(event?.type ?? "Event")} · Oriel`;
  }, [event]);
  const toExplorer = (params: Params) => router.history.push(underBase(`/explore${formatQuery(params)}`));
  const window = event && windowAround(event.occurredAt);
  const empty = {
    ...emptySearch,
    from: window?.from,
    until: window?.until,
    zone: zoneParam?.[0],
  };
  // Where it was opened from a search, the filters of that are still at hand.
  const facets = useFacetNames();
  const { cameFrom } = router.history.location.state;
  const origin = useMemo(
    () => (cameFrom === undefined ? undefined : readSearch(parseQuery(cameFrom), facets)),
    [cameFrom, facets],
  );
  const narrow = useNarrow();
  const openOther = (other: OpenEvent) => {
    const { around } = params;
    const link = `${eventPath(other.name)}${formatQuery({
      ...(other.time !== undefined && { time: [other.time] }),
      ...(zoneParam && { zone: zoneParam }),
      ...(around && { around }),
    })}`;
    router.history.push(link, cameFrom === undefined ? undefined : { cameFrom });
  };
  const onAction: OnValueAction = (field, value, action) =>
    toExplorer(writeSearch({ ...empty, filters: applyAction([], field, value, action) }));
  return (
    <main className="relative flex min-h-0 flex-1 flex-col gap-3 overflow-auto px-4 pt-3 pb-6 wide:pt-4">
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
          <div className="grid items-start gap-3 wide:grid-cols-[minmax(0,1fr)_minmax(280px,400px)]">
            <div className="grid min-w-0 gap-3">
              <section
                aria-label="Data"
                className="min-w-0 overflow-hidden rounded-3 border border-line bg-surface"
              >
                <EventData key={`${open.name} ${open.time}`} detail={detail} wide onAction={onAction} />
              </section>
              <section
                aria-label="Surroundings"
                className="min-w-0 overflow-hidden rounded-3 border border-line bg-surface"
              >
                <h2 className="flex min-h-10 items-center px-4 t-13 font-semibold">Surroundings</h2>
                <Surroundings
                  key={`${open.name} ${open.time}`}
                  open={open}
                  detail={detail}
                  search={origin}
                  wide={!narrow}
                  onOpen={openOther}
                  onSearch={(by, filters) =>
                    toExplorer(writeSearch(searchAround(detail, by, filters, empty)))
                  }
                />
              </section>
            </div>
            <div className="grid min-w-0 gap-3">
              <Panel heading="Attributes">
                <Attributes detail={detail} onAction={onAction} />
                <h3 className="mt-3 mb-0.5 t-12 font-semibold text-ink-2">Extensions</h3>
                <Extensions extensions={detail.extensions} onAction={onAction} />
              </Panel>
              <Panel heading="Position">
                <Position detail={detail} />
              </Panel>
              <Panel heading="Operations">
                <Operations detail={detail} />
              </Panel>
            </div>
          </div>
        </>
      )}
    </main>
  );
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
