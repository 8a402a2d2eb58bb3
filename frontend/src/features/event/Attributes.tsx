import { Fragment, type ReactNode, useState } from "react";
import type { EventDetail, Extension } from "#/api/oriel.gen.ts";
import type { Field } from "#/lib/search.ts";
import { severities } from "#/lib/severity.ts";
import { dateAndTime, lag, timeOfDay } from "#/lib/time.ts";
import { columnsOf, elideMiddle } from "#/lib/visible.ts";
import { Badge } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { type OnValueAction, ValueActions } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";

const term = "py-0.5 t-12 text-ink-3 wrap-anywhere";
const description =
  "group/value relative min-w-0 rounded-[2px] py-0.5 wrap-anywhere hover:bg-hover focus-within:bg-hover";

/** Under a finger all rows are as high as those that have actions. */
const touchRows = "max-wide:[&>*]:min-h-10 max-wide:[&>*]:py-3";

function Pairs({ touch = false, children }: { touch?: boolean; children: ReactNode }) {
  return (
    <dl className={`grid grid-cols-[96px_minmax(0,1fr)] gap-x-1 mono-12 ${touch ? touchRows : ""}`}>
      {children}
    </dl>
  );
}

/** One attribute; a value that can be searched for has its actions on hover and on focus. */
function Pair({
  name,
  value,
  field,
  onAction,
  unset,
  children,
}: {
  name: string;
  value: string | undefined;
  field?: Field;
  onAction?: OnValueAction;
  /** What stands for a value that there is none of, where that is not “absent”. */
  unset?: ReactNode;
  children?: ReactNode;
}) {
  const copy = useCopy();
  const actionable = field !== undefined && value !== undefined && onAction !== undefined;
  return (
    <>
      <dt className={term}>
        <Visible text={name} />
      </dt>
      <dd className={`${description} ${actionable ? "max-wide:pr-11" : ""}`}>
        {value === undefined && !unset && <span className="text-ink-3">absent</span>}
        {value !== undefined && <AttributeText text={value} />}
        {value === undefined && unset}
        {children}
        {actionable && (
          <span className="absolute top-0 right-0.5 opacity-0 group-focus-within/value:opacity-100 group-hover/value:opacity-100 max-wide:top-0 max-wide:opacity-100">
            <ValueActions field={field} value={value} onAction={onAction} onCopy={copy} />
          </span>
        )}
      </dd>
    </>
  );
}

/** Breaks between the parts of a name where there is a choice. */
function Breakable({ text }: { text: string }) {
  return text.split(/(?<=[./:_#])(?=.)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a value never move
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

/** About four lines; a longer value gives way to the data until it is asked for. */
const longest = 160;

function AttributeText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const long = text.length > longest && columnsOf(text) > longest;
  if (text !== "") {
    return (
      <>
        <Visible
          text={long && !whole ? elideMiddle(text, longest - 20) : text}
          render={(run) => <Breakable text={run} />}
        />
        {long && (
          <button
            type="button"
            className="block t-12 text-accent underline underline-offset-2 select-none max-wide:py-3"
            onClick={() => setWhole(!whole)}
          >
            {whole ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`}
          </button>
        )}
      </>
    );
  }
  return (
    <>
      {'""'} <Badge look="outline">empty</Badge>
    </>
  );
}

export function Attributes({ detail, onAction }: { detail: EventDetail; onAction: OnValueAction }) {
  const zone = useZone();
  const { event } = detail;
  return (
    <Pairs touch>
      <Pair name="id" value={event.id} field="id" onAction={onAction} />
      <Pair name="source" value={event.source} field="source" onAction={onAction} />
      <Pair name="type" value={event.type} field="type" onAction={onAction} />
      <Pair name="subject" value={event.subject} field="subject" onAction={onAction} />
      <Pair name="time" value={event.time}>
        {" "}
        <span className="text-ink-3">as sent</span>
      </Pair>
      <Pair name="received" value={timeOfDay(event.ingestTime, zone)}>
        {" "}
        <span className="text-ink-3">{lagText(event.occurredAt, event.ingestTime)}</span>
      </Pair>
      <Pair
        name="severity"
        value={event.severity}
        field="severity"
        onAction={onAction}
        unset={unknownSeverity(detail)}
      />
      <Pair name="dataschema" value={detail.dataSchema} field="dataschema" onAction={onAction} />
      {event.tags.length > 0 && <Pair name="tags" value={event.tags.join(", ")} />}
      {detail.traceId && <Pair name="trace id" value={detail.traceId} field="trace" onAction={onAction} />}
    </Pairs>
  );
}

/** The first of the places where a severity may stand that has one. */
function sentSeverity({ event, extensions, dataText }: EventDetail): string | undefined {
  for (const name of ["severitynumber", "severitytext", "severity"]) {
    const value = extensions[name]?.value;
    if (value) return value;
  }
  if (event.dataKind !== "json" || !dataText?.includes('"severity"')) return undefined;
  const { severity } = (JSON.parse(dataText) ?? {}) as { severity?: unknown };
  return typeof severity === "string" || typeof severity === "number" ? String(severity) : undefined;
}

/** A severity that was sent and is none of the known ones, so that the event has no rank. */
function unknownSeverity(detail: EventDetail): ReactNode {
  const sent = detail.event.severity === undefined ? sentSeverity(detail) : undefined;
  if (!sent) return undefined;
  return (
    <span title={`Known are ${severities.join(", ")}. Filters by severity treat this one as absent.`}>
      <span className="text-ink-3">unknown: </span>
      <AttributeText text={sent} />
    </span>
  );
}

function lagText(occurred: string, received: string): string {
  const later = Date.parse(received) >= Date.parse(occurred);
  return `${lag(occurred, received)} ${later ? "later" : "earlier"}`;
}

/** When it happened and how much later it was received, short enough for one line of the pane. */
export function Times({ event }: { event: EventDetail["event"] }) {
  const zone = useZone();
  return (
    <span title={`received ${dateAndTime(event.ingestTime, zone)}`}>
      {dateAndTime(event.occurredAt, zone, 3)} · <span className="max-wide:hidden">received </span>
      {lagText(event.occurredAt, event.ingestTime)}
    </span>
  );
}

export function Extensions({
  extensions,
  onAction,
}: {
  extensions: EventDetail["extensions"];
  onAction: OnValueAction;
}) {
  const entries = Object.entries(extensions);
  if (entries.length === 0) return <p className="t-12 text-ink-3">None.</p>;
  return (
    <Pairs touch>
      {entries.map(([name, extension]) => (
        <Pair key={name} name={name} value={extension.value} field={`ext.${name}`} onAction={onAction}>
          <ExtensionType extension={extension} />
        </Pair>
      ))}
    </Pairs>
  );
}

function ExtensionType({ extension }: { extension: Extension }) {
  if (extension.type === "string") return null;
  return (
    <>
      {" "}
      <Badge look="outline">{extension.type}</Badge>
    </>
  );
}

export function Position({ detail }: { detail: EventDetail }) {
  const { position } = detail.event;
  return (
    <Pairs>
      <Pair name="topic" value={position.topic} />
      <Pair name="log" value={String(position.log)} />
      <Pair name="partition" value={String(position.partition)} />
      <Pair name="offset" value={position.offset} />
      <Pair name="commit" value={position.commit} />
      <Pair name="key" value={detail.recordKey ?? detail.recordKeyBase64}>
        {detail.recordKey === undefined && detail.recordKeyBase64 !== undefined && (
          <>
            {" "}
            <Badge look="outline">base64</Badge>
          </>
        )}
      </Pair>
      <Pair name="sent in" value={`${detail.contentMode} mode`} />
      {detail.headers.map((header, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: headers repeat, and their order is theirs
        <Fragment key={index}>
          <Pair
            name={header.key}
            value={header.value ?? header.valueBase64}
            unset={
              <Badge look="outline" title="The header is there and has no value.">
                null
              </Badge>
            }
          >
            {header.value === undefined && header.valueBase64 !== undefined && (
              <>
                {" "}
                <Badge look="outline">base64</Badge>
              </>
            )}
          </Pair>
        </Fragment>
      ))}
    </Pairs>
  );
}
