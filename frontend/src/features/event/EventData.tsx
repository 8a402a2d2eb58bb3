import { useMemo, useState } from "react";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { hexDocument, prettyDocument, prettyText, rawDocument } from "#/lib/code.ts";
import { JsonFault, type JsonLayout, layoutJson } from "#/lib/json.ts";
import { type PayloadView, readView } from "#/lib/search.ts";
import { Note, Segments } from "#/ui/controls.tsx";
import { useUrl } from "#/ui/url.ts";
import { CodeView } from "./CodeView.tsx";
import { type Tab, TabList } from "./Tabs.tsx";

/** The data's bytes, as text where they are valid UTF-8. */
export interface Payload {
  readonly text: string | undefined;
  readonly bytes: () => Uint8Array;
}

export function payloadOf(detail: EventDetail): Payload {
  const { dataText, dataBase64 } = detail;
  if (dataText !== undefined) return { text: dataText, bytes: () => new TextEncoder().encode(dataText) };
  return {
    text: undefined,
    bytes: () => Uint8Array.from(atob(dataBase64 ?? ""), (char) => char.charCodeAt(0)),
  };
}

type Layout = { readonly layout: JsonLayout } | { readonly fault: string };

function layOut(detail: EventDetail, text: string | undefined): Layout {
  if (text === undefined)
    return { fault: "Bytes that are not text have no structure to print. Raw shows them." };
  if (detail.event.dataKind === "text")
    return { fault: "Plain text has no structure to print. Raw shows it." };
  try {
    return { layout: layoutJson(text) };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return { fault: `Not JSON: ${error.message} at character ${error.at + 1}. Raw shows what was sent.` };
  }
}

/** What the view offers for copying. */
export function prettyCopy(detail: EventDetail): string | undefined {
  const { text } = payloadOf(detail);
  const laid = layOut(detail, text);
  return text !== undefined && "layout" in laid ? prettyText(text, laid.layout) : undefined;
}

export function EventData({ detail, wide }: { detail: EventDetail; wide: boolean }) {
  const { event } = detail;
  const payload = useMemo(() => payloadOf(detail), [detail]);
  const laid = useMemo(() => layOut(detail, payload.text), [detail, payload]);
  const layout = "layout" in laid ? laid.layout : undefined;
  const fault = "fault" in laid ? laid.fault : undefined;
  const { params, go } = useUrl();
  const [asHex, setAsHex] = useState(false);
  const usual: PayloadView = layout ? "pretty" : "raw";
  const view = readView(params) ?? usual;
  const setView = (next: PayloadView) => {
    const { view: _, ...rest } = params;
    go(next === usual ? rest : { ...rest, view: [next] }, { replace: true });
  };
  const hex = payload.text === undefined || asHex;
  const duplicates = useMemo(() => layout?.duplicates ?? 0, [layout]);

  const build = useMemo(() => {
    const { text } = payload;
    if (view === "pretty" && layout && text !== undefined)
      return (columns: number) => prettyDocument(text, layout, columns);
    if (hex || text === undefined) {
      const bytes = payload.bytes();
      return (columns: number) => hexDocument(bytes, columns >= 78 ? 16 : 8);
    }
    return (columns: number) => rawDocument(text, columns);
  }, [view, layout, hex, payload]);

  if (event.dataKind === "absent" || event.dataKind === "empty") {
    return (
      <div className="px-4 py-3 t-12 text-ink-2">
        {event.dataKind === "absent"
          ? "This event has no data, only attributes."
          : "The data is there and has zero bytes."}
      </div>
    );
  }
  const tabs: readonly Tab<PayloadView>[] = [
    { value: "pretty", label: "Pretty" },
    { value: "raw", label: "Raw" },
  ];
  const box = wide ? "max-h-[max(280px,calc(100dvh-220px))]" : "max-h-[max(200px,48dvh)]";
  return (
    <>
      <div className="flex min-h-9 items-center gap-3 border-b border-line px-4">
        <TabList label="Data" tabs={tabs} value={view} onChange={setView} panel="event-data" />
        <span className="min-w-0 flex-1 cut text-right mono-11 text-ink-3">{formText(detail)}</span>
        {view === "raw" && payload.text !== undefined && (
          <Segments
            label="Raw as"
            value={asHex ? "hex" : "text"}
            options={[
              { value: "text", label: "Text" },
              { value: "hex", label: "Hex" },
            ]}
            onChange={(form) => setAsHex(form === "hex")}
          />
        )}
      </div>
      {event.dataKind === "invalid" && (
        <Note look="warning" flush fact={invalidFact(payload, laid)}>
          It is kept as it was sent, and the event is found by its attributes alone.
        </Note>
      )}
      {duplicates > 0 && (
        <Note look="warning" flush>
          {duplicates === 1 ? "One key repeats" : `${duplicates} keys repeat`} an earlier one of the same
          object. Raw is what was sent; Pretty keeps and marks the later ones.
        </Note>
      )}
      <div role="tabpanel" id="event-data" aria-label={view === "pretty" ? "Pretty" : "Raw"}>
        {view === "pretty" && fault ? (
          <p className="px-4 py-3 t-12 text-ink-2">{fault}</p>
        ) : (
          <CodeView
            key={`${view}${hex}`}
            label={view === "pretty" ? "Data, printed" : "Data, as received"}
            build={build}
            className={box}
          />
        )}
      </div>
    </>
  );
}

/** The levels that data may have to be searched. */
const deepestSearched = 512;

/** Why the server could not read the data as what it says it is. */
function invalidFact(payload: Payload, laid: Layout): string {
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
