import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type Count, getExportEventsUrl } from "#/api/oriel.gen.ts";
import { underBase } from "#/lib/base.ts";
import { ApiError, codesOf } from "#/lib/http.ts";
import { listParams, type Search } from "#/lib/search.ts";
import { dateAndTime } from "#/lib/time.ts";
import { Button, buttonClass, Note, Segments } from "#/ui/controls.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { Field, inputClass } from "#/ui/field.tsx";
import { useZone } from "#/ui/zone.tsx";
import { datesOf } from "../share/link.ts";
import type { Box } from "../useBox.ts";
import type { Run, Taken } from "../useRun.ts";
import { columnsOf, faultOf, mostColumns, readColumns } from "./columns.ts";
import type { Format } from "./meter.ts";
import { canPick, fileSink, memoryLimit, memorySink, pickFile, TooLarge } from "./sink.ts";
import { type Outcome, type Progress, transfer } from "./transfer.ts";

const n = new Intl.NumberFormat("en").format;

const medias: Readonly<Record<Format, { media: string; description: string }>> = {
  ndjson: { media: "application/x-ndjson", description: "NDJSON" },
  csv: { media: "text/csv", description: "CSV" },
};

function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(0)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** `oriel-events-20261130T150210Z.csv` */
function fileName(taken: string, format: Format): string {
  return `oriel-events-${taken.slice(0, 19).replace(/[-:]/g, "")}Z.${format}`;
}

function countText(count: Count | undefined): string {
  if (!count) return "All events";
  const events = count.value === 1 ? "event" : "events";
  const limit = { exact: "", atLeast: "At least ", sampled: "About " }[count.relation];
  return `${limit}${n(count.value)} ${events}`;
}

/** All events of the search, of the snapshot that the page shows, into a file. */
export function ExportDialog({
  search,
  run,
  total,
  onClose,
}: {
  search: Search;
  run: Run;
  total: Box<Count>;
  onClose: () => void;
}) {
  const [running, setRunning] = useState(false);
  return (
    <Dialog heading="Export events" held={running} onClose={onClose}>
      {(close) =>
        run.taken ? (
          <Export
            search={search}
            taken={run.taken}
            count={total.outdated ? undefined : total.data}
            onRunning={setRunning}
            onClose={close}
          />
        ) : (
          <>
            <p className="px-5 pt-2 pb-4 t-13 text-ink-2">
              The search has not been answered. An export is of what the page shows.
            </p>
            <DialogFooter>
              <Button onClick={close}>Close</Button>
            </DialogFooter>
          </>
        )
      }
    </Dialog>
  );
}

function Export({
  search: latest,
  taken: newest,
  count: known,
  onRunning,
  onClose,
}: {
  search: Search;
  taken: Taken;
  count: Count | undefined;
  onRunning: (running: boolean) => void;
  onClose: () => void;
}) {
  // What was shown as the dialog opened is what is exported.
  const [search] = useState(latest);
  const [taken] = useState(newest);
  const zone = useZone();
  const [format, setFormat] = useState<Format>("ndjson");
  const [text, setText] = useState(() => columnsOf(search.columns));
  const columns = readColumns(text);
  const fault = format === "csv" ? faultOf(columns) : undefined;
  const [progress, setProgress] = useState<Progress>();
  const control = useRef<AbortController>(undefined);
  useEffect(() => () => control.current?.abort(), []);
  const params = {
    ...listParams(search),
    format,
    ...(format === "csv" && { columns: [...columns] }),
    snapshot: taken.snapshot.snapshot,
  };
  const name = fileName(taken.takenAt, format);
  const { media, description } = medias[format];
  const url = getExportEventsUrl(params);
  const picks = canPick();
  const work = useMutation({
    mutationFn: async (): Promise<Outcome | undefined> => {
      const file = picks ? await pickFile(name, description, media) : undefined;
      if (picks && !file) return undefined;
      const sink = file ? await fileSink(file) : memorySink(name, media);
      control.current = new AbortController();
      setProgress({ events: 0, bytes: 0 });
      return await transfer(url, format, sink, control.current.signal, setProgress);
    },
    onSettled: () => setProgress(undefined),
  });
  const running = progress !== undefined;
  useEffect(() => onRunning(running), [running, onRunning]);
  const dates = datesOf(taken.snapshot, taken.takenAt);
  const { error } = work;
  const columnFault =
    error instanceof ApiError
      ? error.details.find(({ metadata }) => metadata.attribute === "columns")
      : undefined;
  const direct = (
    <a
      href={underBase(url)}
      download={name}
      className={buttonClass()}
      title="To the browser’s downloads, of any size; the browser shows how far it is."
    >
      Direct download
    </a>
  );
  return (
    <>
      <div className="grid gap-3 px-5 pt-3 pb-4 t-12">
        <p className="text-ink-2">
          <b className="font-semibold text-ink">{countText(known)}</b>
          {dates && (
            <>
              {" "}
              from <span className="mono-12">{dateAndTime(dates.from, zone, 0)}</span>{" "}
              {taken.snapshot.until ? (
                <>
                  until <span className="mono-12">{dateAndTime(taken.snapshot.until, zone, 0)}</span>
                </>
              ) : (
                "to the newest"
              )}
              , as stored at <span className="mono-12">{dateAndTime(taken.takenAt, zone, 0)}</span>
            </>
          )}
          , newest first: the ones that this page shows, and those that it has not loaded.
        </p>
        {running ? (
          <Running progress={progress} count={known} />
        ) : (
          <>
            <Segments
              label="Format"
              value={format}
              options={[
                { value: "ndjson", label: "NDJSON" },
                { value: "csv", label: "CSV" },
              ]}
              onChange={(next) => {
                setFormat(next);
                work.reset();
              }}
            />
            {format === "ndjson" ? (
              <p className="text-ink-3">
                Exact: every attribute, the data byte for byte. Its last line says that it is whole.
              </p>
            ) : (
              <Field
                label="Columns"
                hint={`In this order, at most ${mostColumns}: time, occurredAt, ingestTime, data, and every field such as room, ext.retry or data.amount. A cell that a spreadsheet would run gets an apostrophe in front.`}
                fault={fault ?? (columnFault && (columnFault.message || error?.message))}
              >
                {(tied) => (
                  <textarea
                    {...tied}
                    rows={2}
                    value={text}
                    spellCheck={false}
                    className={`${inputClass(fault)} py-1.5 mono-12`}
                    onChange={(event) => {
                      setText(event.currentTarget.value);
                      work.reset();
                    }}
                  />
                )}
              </Field>
            )}
            {!picks && (
              <p className="text-ink-3">
                This browser keeps an export in memory until it is whole: at most {sizeText(memoryLimit)}. For
                a larger one, use the direct download.
              </p>
            )}
          </>
        )}
        {!running && error && !columnFault && (
          <Note
            look="error"
            fact="The export did not begin."
            codes={error instanceof ApiError ? codesOf(error) : error.name}
          >
            {error.message}
          </Note>
        )}
        {!running && work.data && <Ended outcome={work.data} name={name} />}
      </div>
      <DialogFooter>
        {running ? (
          <Button onClick={() => control.current?.abort()}>Cancel the export</Button>
        ) : (
          <>
            <Button onClick={onClose}>Close</Button>
            {fault === undefined && direct}
            <Button
              look="primary"
              icon="download"
              title="How far it is stands here, and it can be cancelled here."
              unavailable={fault}
              onClick={() => work.mutate()}
            >
              {picks ? "Export to a file…" : "Export"}
            </Button>
          </>
        )}
      </DialogFooter>
    </>
  );
}

function Running({ progress, count }: { progress: Progress; count: Count | undefined }) {
  const all = count?.relation === "exact" ? count.value : undefined;
  return (
    <div className="grid gap-1.5">
      <progress
        aria-label="Export"
        className="h-2 w-full accent-accent-fill"
        {...(all !== undefined && { max: Math.max(all, 1), value: Math.min(progress.events, all) })}
      />
      <p className="text-ink-2 tabular-nums">
        {n(progress.events)}
        {all !== undefined && ` of ${n(all)}`} events, {sizeText(progress.bytes)}
      </p>
    </div>
  );
}

function Ended({ outcome, name }: { outcome: Outcome; name: string }): ReactNode {
  const events = `${n(outcome.events)} ${outcome.events === 1 ? "event" : "events"}`;
  if (outcome.kind === "whole") {
    return (
      <div role="status">
        <Note look="accent" fact={`${events} exported, ${sizeText(outcome.bytes)}.`}>
          The file is whole.
        </Note>
      </div>
    );
  }
  if (outcome.kind === "cancelled") {
    return (
      <div role="status">
        <Note look="plain" fact="The export was cancelled.">
          Nothing was kept.
        </Note>
      </div>
    );
  }
  const why =
    outcome.error instanceof TooLarge
      ? `It is larger than the ${sizeText(memoryLimit)} that this page holds. Use the direct download.`
      : (outcome.reason ?? outcome.error?.message ?? "It ended before its end.");
  return (
    <Note
      look="error"
      fact={`The export was cut after ${events}.`}
      codes={outcome.kept ? `${name}.partial` : undefined}
    >
      {why} {outcome.kept ? "What came was kept under a name that says so." : "Nothing was kept."}
    </Note>
  );
}
