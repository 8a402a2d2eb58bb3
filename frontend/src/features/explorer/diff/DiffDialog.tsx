import { useQueries } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type EventDetail, getEvent } from "#/api/oriel.gen.ts";
import { ApiError, codesOf } from "#/lib/http.ts";
import type { Difference } from "#/lib/json-diff.ts";
import { inSlices, type Outcome } from "#/lib/slices.ts";
import { dateAndTime } from "#/lib/time.ts";
import { elideMiddle } from "#/lib/visible.ts";
import { Button, Note, Segments, Skeleton } from "#/ui/controls.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Severity } from "#/ui/severity.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import type { Pair } from "../usePicked.ts";
import { type Comparison, compareEvents, excerpt } from "./compare.ts";

/** Two events side by side, and what differs between them. */
export function DiffDialog({
  pair,
  onCopy,
  onClose,
}: {
  pair: Pair;
  onCopy: (text: string, what: string) => void;
  onClose: () => void;
}) {
  const { details, error, again } = useDetails(pair);
  const [left, right] = details;
  const outcome = useComparison(left, right);
  return (
    <Dialog wide heading="Compare two events" onClose={onClose}>
      {(close) => (
        <>
          <div className="max-h-[calc(100dvh-180px)] overflow-y-auto px-5 py-3 t-12">
            {error ? (
              <Note
                look="error"
                fact="The events could not be read."
                codes={error instanceof ApiError ? codesOf(error) : undefined}
                actions={<Button onClick={again}>Try again</Button>}
              >
                {error.message}
              </Note>
            ) : !left || !right || !outcome ? (
              <Waiting />
            ) : "error" in outcome ? (
              <Note look="error" fact="The events could not be compared.">
                {String(outcome.error)}
              </Note>
            ) : (
              <Table left={left} right={right} comparison={outcome.value} onCopy={onCopy} />
            )}
          </div>
          <DialogFooter>
            <Button onClick={close}>Close</Button>
          </DialogFooter>
        </>
      )}
    </Dialog>
  );
}

function Waiting() {
  return (
    <div role="status" aria-label="Reading the events" className="grid gap-4 py-2">
      {["60%", "80%", "72%", "84%", "50%"].map((width) => (
        <Skeleton key={width} width={width} />
      ))}
    </div>
  );
}

function useDetails(pair: Pair) {
  return useQueries({
    queries: pair.map(({ name, time }) => ({
      // As the pane of an event reads it.
      queryKey: ["event", name, time ?? null],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        getEvent(name, time === undefined ? {} : { time }, { signal }),
      gcTime: 120_000,
    })),
    combine: (results) => ({
      details: results.map(({ data }): EventDetail | undefined => data),
      error: results.find(({ error, isFetching }) => error && !isFetching)?.error ?? undefined,
      again: () => {
        for (const result of results) if (result.isError) void result.refetch();
      },
    }),
  });
}

/** Two megabytes are compared in slices. */
function useComparison(left: EventDetail | undefined, right: EventDetail | undefined) {
  const [outcome, setOutcome] = useState<Outcome<Comparison>>();
  useEffect(() => {
    setOutcome(undefined);
    if (!left || !right) return undefined;
    const running = inSlices(compareEvents(left, right), setOutcome);
    if (typeof running === "function") return running;
    setOutcome(running);
    return undefined;
  }, [left, right]);
  return outcome;
}

/** Rows shown at once. */
const atOnce = 500;

function Table({
  left,
  right,
  comparison,
  onCopy,
}: {
  left: EventDetail;
  right: EventDetail;
  comparison: Comparison;
  onCopy: (text: string, what: string) => void;
}) {
  const [show, setShow] = useState<"different" | "all">("different");
  const narrow = useNarrow();
  const [most, setMost] = useState(atOnce);
  const different = comparison.differences.filter(({ same }) => !same);
  const rows = show === "all" ? comparison.differences : different;
  const n = (count: number) => count.toLocaleString("en");
  const rest = rows.length - most;
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-3">
        <Segments
          label="Rows"
          value={show}
          options={[
            { value: "different", label: `Different ${n(different.length)}` },
            { value: "all", label: `All ${n(comparison.differences.length)}` },
          ]}
          onChange={setShow}
        />
        <span className="text-ink-2">
          {comparison.sameData
            ? "The data are the same, byte for byte."
            : comparison.whole
              ? "The data are not both JSON and are compared as a whole."
              : "Values are compared as they are spelled: 1.0 is not 1."}
        </span>
      </div>
      <table className="w-full table-fixed border-collapse text-left">
        <thead>
          <tr className="border-b border-line align-top text-ink-2">
            {!narrow && (
              <th scope="col" className="w-1/4 py-1 pr-3 font-medium">
                Field
              </th>
            )}
            {[left, right].map((detail, index) => (
              <th key={index === 0 ? "left" : "right"} scope="col" className="py-1 pr-3 font-normal">
                <Title detail={detail} ordinal={index === 0 ? "First" : "Second"} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <Row key={row.path} row={row} narrow={narrow} onCopy={onCopy} />
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p className="py-3 text-ink-2">Nothing differs.</p>}
      {rest > 0 && (
        <Button className="mt-2" onClick={() => setMost(most + atOnce)}>
          Show {n(Math.min(rest, atOnce))} more of {n(rest)}
        </Button>
      )}
    </>
  );
}

function Title({ detail: { event }, ordinal }: { detail: EventDetail; ordinal: string }) {
  const zone = useZone();
  return (
    <>
      <span className="font-medium text-ink-2">{ordinal}</span>
      <span className="block mono-12 text-ink wrap-anywhere">
        <Visible text={elideMiddle(event.type, 60)} />
      </span>
      <span className="flex flex-wrap items-center gap-x-2 mono-11 text-ink-3">
        {dateAndTime(event.occurredAt, zone)}
        {event.severity && <Severity level={event.severity} />}
      </span>
    </>
  );
}

function Row({
  row,
  narrow,
  onCopy,
}: {
  row: Difference;
  /** The field stands above its values. */
  narrow: boolean;
  onCopy: (text: string, what: string) => void;
}) {
  const { path, left, right, same } = row;
  const values = (
    <>
      <Value value={left} other={right} same={same} what={`${path} of the first`} onCopy={onCopy} />
      <Value value={right} other={left} same={same} what={`${path} of the second`} onCopy={onCopy} />
    </>
  );
  const look = "pr-3 mono-12 font-normal text-ink-2 wrap-anywhere";
  if (narrow) {
    return (
      <>
        <tr>
          <th scope="rowgroup" colSpan={2} className={`pt-2 ${look}`}>
            <Visible text={path} />
          </th>
        </tr>
        <tr className="border-b border-line align-top">{values}</tr>
      </>
    );
  }
  return (
    <tr className="border-b border-line align-top">
      <th scope="row" className={`py-2 ${look}`}>
        <Visible text={path} />
      </th>
      {values}
    </tr>
  );
}

function Value({
  value,
  other,
  same,
  what,
  onCopy,
}: {
  value: string | undefined;
  other: string | undefined;
  same: boolean;
  what: string;
  onCopy: (text: string, what: string) => void;
}) {
  if (value === undefined) return <td className="py-2 pr-3 pl-1 text-ink-3">absent</td>;
  const { text, from, cut } = excerpt(value, other);
  return (
    <td className="py-1 pr-3">
      <span
        className={`group/diff flex items-start gap-1 rounded-1 px-1 mono-12 wrap-anywhere whitespace-pre-wrap ${same ? "text-ink-3" : "bg-warning-tint text-ink"}`}
      >
        <span className="min-w-0 flex-1 py-1">
          {from > 0 && <span className="text-ink-3">… </span>}
          <Visible text={text} />
          {cut && <span className="text-ink-3"> …</span>}
          {(from > 0 || cut) && (
            <span className="block t-11 text-ink-3">
              {value.length.toLocaleString("en")} characters, from {(from + 1).toLocaleString("en")}
            </span>
          )}
        </span>
        <Button
          look="ghost"
          size="small"
          icon="copy"
          className="opacity-0 group-hover/diff:opacity-100 focus-visible:opacity-100 max-wide:opacity-100"
          aria-label={`Copy ${what}`}
          title="Copy the whole value"
          onClick={() => onCopy(value, what)}
        />
      </span>
    </td>
  );
}
