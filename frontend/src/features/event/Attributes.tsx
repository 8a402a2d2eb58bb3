import { Fragment, type ReactNode } from "react";
import type { EventDetail, Extension } from "#/api/oriel.gen.ts";
import type { Field } from "#/lib/search.ts";
import { lag, timeOfDay } from "#/lib/time.ts";
import { Badge } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { type OnValueAction, ValueActions } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";

const term = "py-0.5 t-12 text-ink-3";
const description =
  "group/value relative min-w-0 rounded-[2px] py-0.5 wrap-anywhere hover:bg-hover focus-within:bg-hover";

function Pairs({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[96px_minmax(0,1fr)] gap-x-1 mono-12">{children}</dl>;
}

/** One attribute; a value that can be searched for has its actions on hover and on focus. */
function Pair({
  name,
  value,
  field,
  onAction,
  children,
}: {
  name: string;
  value: string | undefined;
  field?: Field;
  onAction?: OnValueAction;
  children?: ReactNode;
}) {
  const copy = useCopy();
  const actionable = field !== undefined && value !== undefined && onAction !== undefined;
  const touch = actionable ? "max-wide:min-h-10 max-wide:py-3" : "";
  return (
    <>
      <dt className={`${term} ${touch}`}>{name}</dt>
      <dd className={`${description} ${touch} ${actionable ? "max-wide:pr-10" : ""}`}>
        {value === undefined ? <span className="text-ink-3">absent</span> : <AttributeText text={value} />}
        {children}
        {actionable && (
          <span className="absolute top-0 right-0.5 opacity-0 group-focus-within/value:opacity-100 group-hover/value:opacity-100 max-wide:top-1 max-wide:opacity-100">
            <ValueActions field={field} value={value} onAction={onAction} onCopy={copy} />
          </span>
        )}
      </dd>
    </>
  );
}

function AttributeText({ text }: { text: string }) {
  if (text !== "") return <Visible text={text} />;
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
    <Pairs>
      <Pair name="id" value={event.id} />
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
      <Pair name="severity" value={event.severity} field="severity" onAction={onAction} />
      <Pair name="dataschema" value={detail.dataSchema} />
      {event.tags.length > 0 && <Pair name="tags" value={event.tags.join(", ")} />}
      {detail.traceId && <Pair name="trace id" value={detail.traceId} />}
    </Pairs>
  );
}

export function lagText(occurred: string, received: string): string {
  if (Date.parse(received) === Date.parse(occurred)) return "in the same millisecond";
  const later = Date.parse(received) > Date.parse(occurred);
  return `${lag(occurred, received)} ${later ? "later" : "earlier"}`;
}

export function Extensions({ extensions }: { extensions: EventDetail["extensions"] }) {
  const entries = Object.entries(extensions);
  if (entries.length === 0) return <p className="t-12 text-ink-3">None.</p>;
  return (
    <Pairs>
      {entries.map(([name, extension]) => (
        <Pair key={name} name={name} value={extension.value}>
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
          <Pair name={header.key} value={header.value ?? header.valueBase64 ?? ""}>
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
