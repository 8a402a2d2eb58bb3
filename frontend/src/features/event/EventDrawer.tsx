import { useRouter } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import type { Event, EventDetail } from "#/api/oriel.gen.ts";
import { parseEventName } from "#/lib/event-name.ts";
import { ApiError } from "#/lib/http.ts";
import { type OpenEvent, readSearch, writeSearch } from "#/lib/search.ts";
import { useFacetNames } from "#/ui/access.tsx";
import { Button, buttonClass, Skeleton } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Severity } from "#/ui/severity.tsx";
import { useSheet } from "#/ui/sheet.tsx";
import { Slow } from "#/ui/slow.tsx";
import { useUrl } from "#/ui/url.ts";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { Attributes, Extensions, Position, Times } from "./Attributes.tsx";
import { EventActions, usePermalink } from "./actions.tsx";
import { searchAround } from "./around.ts";
import { EventData } from "./EventData.tsx";
import { EventFailed } from "./EventFailed.tsx";
import { EventTitle } from "./EventTitle.tsx";
import { Operations } from "./Operations.tsx";
import { Others } from "./Others.tsx";
import { type EventRead, useEvent } from "./query.ts";
import { Surroundings } from "./Surroundings.tsx";

/**
 * One event beside the list: over the summary column, docked where there is room, and a sheet over
 * everything where there is little. The focus stays in the list, so that its keys go on working.
 */
export default function EventDrawer({
  open,
  listed,
  loaded,
  onClose,
  onStep,
  onAction,
}: {
  open: OpenEvent;
  listed: Event | undefined;
  /** How many rows are loaded, where that is settled. */
  loaded: number | undefined;
  onClose: () => void;
  onStep: ((by: 1 | -1) => void) | undefined;
  onAction: OnValueAction;
}) {
  const read = useEvent(open);
  const { detail, error } = read;
  const failed = error !== undefined || read.cancelled;
  const event = detail?.event ?? listed;
  const narrow = useNarrow();
  useSheet(narrow);
  const Frame = narrow ? "div" : "aside";
  const body = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another event starts at its top
  useEffect(() => {
    body.current?.scrollTo({ top: 0 });
  }, [open.name, open.time]);
  return (
    <Frame
      aria-label="Event"
      {...(narrow && { role: "dialog", "aria-modal": true })}
      className="fixed inset-0 z-20 flex min-h-0 flex-col bg-raised slide-in wide:absolute wide:left-auto wide:w-(--drawer) wide:border-l wide:border-line-2 wide:shadow-drawer dock:static dock:animate-none dock:shadow-none"
    >
      <Header
        open={open}
        event={event}
        read={read}
        modal={narrow}
        loaded={loaded}
        onClose={onClose}
        onStep={onStep}
      />
      <div
        ref={body}
        className="relative min-h-0 flex-1 overflow-x-hidden overflow-y-auto"
        data-testid="event-body"
      >
        {detail && (
          <Body
            key={`${open.name} ${open.time}`}
            open={open}
            detail={detail}
            narrow={narrow}
            onAction={onAction}
          />
        )}
        {failed && <EventFailed open={open} read={read} />}
        {!detail && !failed && <LoadingBody key={`${open.name} ${open.time}`} onCancel={read.cancel} />}
      </div>
    </Frame>
  );
}

function Header({
  open,
  event,
  read,
  modal,
  loaded,
  onClose,
  onStep,
}: {
  open: OpenEvent;
  event: Event | undefined;
  read: EventRead;
  loaded: number | undefined;
  /** It covers the page, and takes the focus. */
  modal: boolean;
  onClose: () => void;
  onStep: ((by: 1 | -1) => void) | undefined;
}) {
  const router = useRouter();
  const link = usePermalink(open);
  const closing = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (modal) closing.current?.focus();
  }, [modal]);
  const { detail } = read;
  const dead = read.error instanceof ApiError && !read.error.transient;
  const unlisted = onStep ? undefined : "This event is not among the rows that are loaded.";
  return (
    <header className="flex-none border-b border-line py-2 pr-2 pl-4">
      <div className="flex items-start gap-2">
        {event?.severity && (
          <span className="py-3 wide:py-1">
            <Severity level={event.severity} />
          </span>
        )}
        <div className="flex min-h-10 min-w-0 flex-1 items-center wide:min-h-6">
          <EventTitle as="h2" size={12} text={event?.type ?? parseEventName(open.name)?.id ?? open.name} />
        </div>
        <span className="flex">
          <Button
            look="ghost"
            size="small"
            icon="up"
            aria-label="Previous event"
            title="Previous (k)"
            unavailable={unlisted}
            onClick={() => onStep?.(-1)}
          />
          <Button
            look="ghost"
            size="small"
            icon="down"
            aria-label="Next event"
            title="Next (j)"
            unavailable={unlisted}
            onClick={() => onStep?.(1)}
          />
          <a
            href={link}
            className={buttonClass("ghost", "small", true)}
            aria-label="Open as page"
            title="Open as page"
            onClick={(click) => {
              if (click.metaKey || click.ctrlKey || click.shiftKey || click.button !== 0) return;
              click.preventDefault();
              router.history.push(link, { cameFrom: router.history.location.search });
            }}
          >
            <Icon name="full" />
          </a>
          <Button
            look="ghost"
            size="small"
            ref={closing}
            icon="close"
            aria-label="Close event"
            title="Close (Esc)"
            onClick={onClose}
          />
        </span>
      </div>
      <p className="mt-0.5 mb-2 cut mono-12 text-ink-3">
        {event ? <Times event={event} /> : read.reading ? "Reading…" : "Not read"}
      </p>
      {!onStep && event && loaded !== undefined && (
        <p className="-mt-1 mb-2 t-12 text-ink-2">
          Not among the {loaded.toLocaleString("en")} {loaded === 1 ? "row" : "rows"} that{" "}
          {loaded === 1 ? "is" : "are"} loaded.
        </p>
      )}
      {!dead && (
        <div className="flex flex-wrap gap-2">
          <EventActions open={open} detail={detail} size="small" />
        </div>
      )}
    </header>
  );
}

function Body({
  open,
  detail,
  narrow,
  onAction,
}: {
  open: OpenEvent;
  detail: EventDetail;
  /** In one column what was sent comes first, and what was around it. */
  narrow: boolean;
  onAction: OnValueAction;
}) {
  const { params, go } = useUrl();
  const facets = useFacetNames();
  const search = useMemo(() => readSearch(params, facets), [params, facets]);
  const extensions = Object.keys(detail.extensions).length > 0;
  const attributes = (
    <>
      <Section>
        <Attributes detail={detail} onAction={onAction} />
      </Section>
      {extensions && (
        <Section heading="Extensions">
          <Extensions extensions={detail.extensions} onAction={onAction} />
        </Section>
      )}
    </>
  );
  const position = (
    <Section heading="Position">
      <Position detail={detail} />
    </Section>
  );
  return (
    <>
      <Others detail={detail} />
      {!narrow && attributes}
      <section aria-label="Data" className="border-b border-line">
        <EventData detail={detail} wide={false} onAction={onAction} />
      </section>
      {!narrow && position}
      <section aria-label="Surroundings" className="border-b border-line">
        <h3 className="flex min-h-8 items-center px-4 pt-1 t-12 font-semibold text-ink-2">Surroundings</h3>
        <Surroundings
          open={open}
          detail={detail}
          search={search}
          wide={false}
          onOpen={(next) => go(writeSearch({ ...search, open: next }), { replace: true })}
          onSearch={(by, filters) => go(writeSearch(searchAround(detail, by, filters, search)))}
        />
      </section>
      {narrow && attributes}
      {narrow && position}
      <Section heading="Operations">
        <Operations detail={detail} />
      </Section>
    </>
  );
}

function Section({ heading, children }: { heading?: string; children: ReactNode }) {
  return (
    <section className="border-b border-line px-4 pt-2 pb-3 last:border-b-0">
      {heading && (
        <h3 className="mb-0.5 flex min-h-6 items-center t-12 font-semibold text-ink-2">{heading}</h3>
      )}
      {children}
    </section>
  );
}

function LoadingBody({ onCancel }: { onCancel: () => void }) {
  return (
    <div role="status" aria-label="Reading the event" className="grid gap-3 px-4 py-4">
      <span className="min-h-6">
        <Slow word="" onCancel={onCancel} />
      </span>
      {["72%", "48%", "60%", "54%", "66%", "40%"].map((width) => (
        <div key={width} className="grid grid-cols-[96px_minmax(0,1fr)] items-center">
          <Skeleton width="56px" />
          <Skeleton width={width} />
        </div>
      ))}
    </div>
  );
}
