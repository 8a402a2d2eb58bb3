import { useCallback, useMemo, useState } from "react";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { hexDocument, prettyDocument, prettyText, rawDocument } from "#/lib/code.ts";
import { JsonFault, layoutJson, readJson } from "#/lib/json.ts";
import type { JsonLayout } from "#/lib/json-layout.ts";
import { type Payload, payloadOf } from "#/lib/payload.ts";
import { type PayloadView, readView } from "#/lib/search.ts";
import { spelled } from "#/lib/visible.ts";
import { Note, Segments, Skeleton } from "#/ui/controls.tsx";
import { useUrl } from "#/ui/url.ts";
import type { OnValueAction } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";
import { CodeView } from "./CodeView.tsx";
import { type Tab, TabList } from "./Tabs.tsx";
import { TreeView } from "./TreeView.tsx";
import { useSliced } from "./useSliced.ts";

type Laid = { readonly layout: JsonLayout } | { readonly fault: string };

/** Of what has no structure, why; undefined where reading it will tell. */
function unstructured(detail: EventDetail, text: string | undefined): string | undefined {
  if (text === undefined) return "Bytes that are not text have no structure to show. Raw shows them.";
  if (detail.event.dataKind === "text") return "Plain text has no structure to show. Raw shows it.";
  return undefined;
}

function laidOf(value: JsonLayout | undefined, error: unknown): Laid | undefined {
  if (value) return { layout: value };
  if (error === undefined) return undefined;
  if (!(error instanceof JsonFault)) throw error;
  return { fault: `Not JSON: ${error.message} at character ${error.at + 1}. Raw shows what was sent.` };
}

/** The data with one member a line, for copying; undefined where it is no JSON. */
export function prettyCopy(detail: EventDetail): string | undefined {
  const { text } = payloadOf(detail);
  if (text === undefined || unstructured(detail, text)) return undefined;
  try {
    return prettyText(text, layoutJson(text));
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return undefined;
  }
}

const rawForms = ["text", "hex", "both"] as const;
type RawForm = (typeof rawForms)[number];

const tabs: readonly Tab<PayloadView>[] = [
  { value: "tree", label: "Tree" },
  { value: "pretty", label: "Pretty" },
  { value: "raw", label: "Raw" },
];

/** The data's structure, where it has one, as soon as it is known. */
function useLaid(detail: EventDetail, text: string | undefined): Laid | undefined {
  const none = unstructured(detail, text);
  const read = useCallback(
    () => (text === undefined || none !== undefined ? undefined : readJson(text)),
    [text, none],
  );
  const { value, error } = useSliced(read);
  return none === undefined ? laidOf(value, error) : { fault: none };
}

export function EventData({ detail, ...rest }: DataProps) {
  const { dataKind } = detail.event;
  if (dataKind !== "absent" && dataKind !== "empty") return <SomeData detail={detail} {...rest} />;
  return (
    <div className="px-4 py-3 t-12 text-ink-2">
      {dataKind === "absent"
        ? "This event has no data, only attributes."
        : "The data is there and has zero bytes."}
    </div>
  );
}

interface DataProps {
  readonly detail: EventDetail;
  readonly wide: boolean;
  readonly onAction: OnValueAction;
}

function SomeData({ detail, wide, onAction }: DataProps) {
  const { event } = detail;
  const payload = useMemo(() => payloadOf(detail), [detail]);
  const { text } = payload;
  const laid = useLaid(detail, text);
  const layout = laid && "layout" in laid ? laid.layout : undefined;
  const fault = laid && "fault" in laid ? laid.fault : undefined;
  const { params, go } = useUrl();
  const [form, setForm] = useState<RawForm>("text");
  const usual: PayloadView = fault === undefined ? "tree" : "raw";
  const view = readView(params) ?? usual;
  const setView = (next: PayloadView) => {
    const { view: _, ...rest } = params;
    go(next === usual ? rest : { ...rest, view: [next] }, { replace: true });
  };
  const duplicates = layout?.duplicates ?? 0;
  return (
    <>
      <div className="flex min-h-9 items-center gap-3 border-b border-line px-4">
        <TabList label="Data" tabs={tabs} value={view} onChange={setView} panel="event-data" />
        <span className="min-w-0 flex-1 cut text-right mono-11 text-ink-3" title={spelled(formText(detail))}>
          <Visible text={formText(detail)} />
        </span>
        {view === "raw" && text !== undefined && (
          <Segments
            label="Raw as"
            value={form}
            options={rawForms.map((value) => ({ value, label: formLabels[value] }))}
            onChange={setForm}
          />
        )}
      </div>
      {event.dataKind === "invalid" && laid && (
        <Note look="warning" flush fact={invalidFact(payload, laid)}>
          It is kept as it was sent, and the event is found by its attributes alone.
        </Note>
      )}
      {duplicates > 0 && <DuplicateNote count={duplicates} />}
      <div role="tabpanel" id="event-data" aria-label={tabs.find((tab) => tab.value === view)?.label}>
        {view === "raw" ? (
          <RawData payload={payload} form={form} wide={wide} />
        ) : (
          <Structured
            text={text ?? ""}
            laid={laid}
            view={view}
            wide={wide}
            unsearchable={event.dataKind === "json" ? undefined : "Malformed data is not searched."}
            onAction={onAction}
          />
        )}
      </div>
    </>
  );
}

function DuplicateNote({ count }: { count: number }) {
  return (
    <Note look="warning" flush>
      {count === 1 ? "One key repeats" : `${count.toLocaleString("en")} keys repeat`} an earlier one of the
      same object. Raw is what was sent, a search finds every value, and Tree and Pretty mark the later ones.
    </Note>
  );
}

const whole = (wide: boolean) =>
  wide ? "max-h-[max(280px,calc(100dvh-220px))]" : "max-h-[max(200px,48dvh)]";
const half = (wide: boolean) => (wide ? "max-h-[max(140px,calc(50dvh-110px))]" : "max-h-[max(120px,24dvh)]");

function Structured({
  text,
  laid,
  view,
  wide,
  unsearchable,
  onAction,
}: {
  text: string;
  laid: Laid | undefined;
  view: PayloadView;
  wide: boolean;
  unsearchable: string | undefined;
  onAction: OnValueAction;
}) {
  const layout = laid && "layout" in laid ? laid.layout : undefined;
  const [opened, setOpened] = useState<ReadonlySet<number>>(() => new Set());
  const pretty = useMemo(
    () => layout && ((columns: number) => prettyDocument(text, layout, columns, opened)),
    [text, layout, opened],
  );
  if (laid === undefined) return <ReadingData />;
  if ("fault" in laid) return <p className="px-4 py-3 t-12 text-ink-2">{laid.fault}</p>;
  if (view === "tree")
    return (
      <TreeView
        text={text}
        layout={laid.layout}
        unsearchable={unsearchable}
        onAction={onAction}
        className={whole(wide)}
      />
    );
  return (
    pretty && (
      <CodeView
        label="Data, printed"
        build={pretty}
        onMore={(line) => setOpened((was) => new Set(was).add(line))}
        className={whole(wide)}
      />
    )
  );
}

function RawData({ payload, form, wide }: { payload: Payload; form: RawForm; wide: boolean }) {
  const { text } = payload;
  const raw = useMemo(
    () => (text === undefined ? undefined : (columns: number) => rawDocument(text, columns)),
    [text],
  );
  const hex = useMemo(() => {
    let bytes: Uint8Array | undefined;
    return (columns: number) => {
      bytes ??= payload.bytes();
      return hexDocument(bytes, columns >= 78 ? 16 : 8);
    };
  }, [payload]);
  const both = raw !== undefined && form === "both";
  const box = both ? half(wide) : whole(wide);
  return (
    <>
      {raw && form !== "hex" && <CodeView key="text" label="Data, as received" build={raw} className={box} />}
      {(!raw || form !== "text") && (
        <div className={both ? "border-t border-line" : ""}>
          <CodeView
            key="hex"
            label={both ? "Data, in hexadecimal" : "Data, as received"}
            build={hex}
            className={box}
          />
        </div>
      )}
    </>
  );
}

const formLabels: Readonly<Record<RawForm, string>> = { text: "Text", hex: "Hex", both: "Both" };

/** In the place of large data while it is read. */
function ReadingData() {
  return (
    <div role="status" aria-label="Reading the data" className="grid gap-3 px-4 py-3">
      {["52%", "40%", "64%", "48%"].map((width) => (
        <Skeleton key={width} width={width} />
      ))}
    </div>
  );
}

/** The levels that data may have to be searched. */
const deepestSearched = 512;

/** Why the server could not read the data as what it says it is. */
function invalidFact(payload: Payload, laid: Laid): string {
  if (payload.text === undefined) return "These bytes are not valid UTF-8.";
  if ("fault" in laid) return laid.fault.replace(/ Raw shows what was sent\.$/, "");
  for (let line = 0; line < laid.layout.length; line++) {
    if (laid.layout.at(line).depth > deepestSearched)
      return `This JSON is nested deeper than ${deepestSearched} levels.`;
  }
  return "This data is not what its content type says.";
}

function formText({ event }: EventDetail): string {
  const kind = event.dataKind === "invalid" ? "malformed" : undefined;
  return [event.dataContentType ?? "no content type", kind, `${event.dataSize.toLocaleString("en")} B`]
    .filter(Boolean)
    .join(" · ");
}
