import type { EventDetail } from "#/api/oriel.gen.ts";
import { asJson, asLine, asReadCommand, asSendCommand } from "#/lib/cloudevent.ts";
import { eventPath } from "#/lib/event-name.ts";
import { formatQuery, type OpenEvent, readView } from "#/lib/search.ts";
import { utc } from "#/lib/time.ts";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Menu, type MenuItem } from "#/ui/popover.tsx";
import { useUrl } from "#/ui/url.ts";
import { useZone } from "#/ui/zone.tsx";
import { prettyCopy } from "./EventData.tsx";
import { apiUrl, dataUrl, publishUrl } from "./query.ts";
import { TraceLink } from "./TraceLink.tsx";
import { useCopyKey } from "./useCopyKey.ts";

/** The address of an event's own page, in the zone that is shown. */
export function usePermalink(open: OpenEvent): string {
  const zone = useZone();
  const { params } = useUrl();
  const view = readView(params);
  return `${eventPath(open.name)}${formatQuery({
    ...(open.time && { time: [open.time] }),
    ...(zone !== utc && { zone: [zone] }),
    ...(view && { view: [view] }),
  })}`;
}

/** Copy, link and download: the same on the pane and on the page. */
export function EventActions({
  open,
  detail,
  size,
}: {
  open: OpenEvent;
  detail: EventDetail | undefined;
  size: "small" | "normal";
}) {
  const copy = useCopy();
  const link = usePermalink(open);
  useCopyKey(() => detail && copyJson(detail, copy));
  const waiting = detail ? undefined : "The event is still being read.";
  return (
    <>
      {detail ? (
        <Menu
          label="Copy"
          items={copyItems(open, detail, copy)}
          trigger={{
            className: buttonClass("plain", size),
            children: (
              <>
                <Icon name="copy" className="-ml-0.5 text-ink-2" />
                Copy
                <Icon name="down" small className="text-ink-2" />
              </>
            ),
          }}
        />
      ) : (
        <Button size={size} icon="copy" unavailable={waiting}>
          Copy
          <Icon name="down" small />
        </Button>
      )}
      <Button
        size={size}
        icon="link"
        title="Copy the address of this event"
        onClick={() => copy(new URL(link, location.href).href, "the link")}
      >
        Link
      </Button>
      <a
        href={dataUrl(open)}
        download
        className={buttonClass("plain", size)}
        title="Download the data, byte for byte"
      >
        <Icon name="download" className="-ml-0.5 text-ink-2" />
        {size === "small" ? "Raw" : "Download raw"}
      </a>
      <TraceLink detail={detail} size={size} />
    </>
  );
}

function copyItems(
  open: OpenEvent,
  detail: EventDetail,
  copy: (text: string, what: string) => void,
): MenuItem[][] {
  const { event, dataText, dataBase64 } = detail;
  const data: MenuItem[] = [];
  if (dataText !== undefined) {
    data.push({ label: "Data as received", icon: "copy", onSelect: () => copy(dataText, "the data") });
    if (event.dataKind === "json") {
      // Printed on demand: a megabyte takes tens of milliseconds.
      data.push({
        label: "Data, printed",
        icon: "copy",
        onSelect: () => copy(prettyCopy(detail) ?? dataText, "the data, printed"),
      });
    }
  } else if (dataBase64 !== undefined) {
    data.push({
      label: "Data as base64",
      icon: "copy",
      onSelect: () => copy(dataBase64, "the data as base64"),
    });
  }
  const whole: MenuItem[] = [
    {
      label: "Event as JSON",
      icon: "copy",
      hint: "CloudEvents",
      key: "Ctrl C",
      onSelect: () => copyJson(detail, copy),
    },
    {
      label: "Event as NDJSON",
      icon: "copy",
      hint: "one line",
      onSelect: () => copy(asLine(detail), "the event as NDJSON"),
    },
    {
      label: "curl that reads it",
      icon: "copy",
      onSelect: () => copy(asReadCommand(apiUrl(open)), "the command that reads it"),
    },
    {
      label: "curl that publishes it",
      icon: "copy",
      onSelect: () => copy(asSendCommand(detail, publishUrl()), "the command that publishes it"),
    },
  ];
  const identity: MenuItem[] = [
    { label: "id", icon: "copy", onSelect: () => copy(event.id, "the id") },
    { label: "source", icon: "copy", onSelect: () => copy(event.source, "the source") },
    { label: "Kafka position", icon: "copy", onSelect: () => copy(positionText(detail), "the position") },
  ];
  return [whole, data, identity].filter((group) => group.length > 0);
}

function copyJson(detail: EventDetail, copy: (text: string, what: string) => void): void {
  copy(asJson(detail), "the event as JSON");
}

function positionText({ event: { position } }: EventDetail): string {
  return `${position.topic}/${position.partition}/${position.offset}`;
}
