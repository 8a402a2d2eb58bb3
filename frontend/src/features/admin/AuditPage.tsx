import { useCallback, useMemo } from "react";
import { getExportAuditEntriesUrl } from "#/api/oriel.gen.ts";
import { underBase } from "#/lib/base.ts";
import { Blank } from "#/ui/blank.tsx";
import { Button, buttonClass, Skeleton } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useUrl } from "#/ui/url.ts";
import { AdminFrame, Panel } from "./AdminFrame.tsx";
import { AuditChips } from "./AuditChips.tsx";
import { AuditSearch } from "./AuditSearch.tsx";
import { AuditTable } from "./AuditTable.tsx";
import { AuditWindow } from "./AuditWindow.tsx";
import { type Entries, useEntries } from "./audit-query.ts";
import {
  type AuditField,
  type AuditView,
  auditParams,
  isFiltered,
  operationOf,
  outcomes,
  readAuditView,
  wholeRecord,
  writeAuditView,
} from "./audit-url.ts";
import { ListError } from "./ListError.tsx";
import { StateFilter } from "./StateFilter.tsx";

/** What was done here, by whom and why. */
export function AuditPage() {
  const { params, go } = useUrl();
  const view = useMemo(() => readAuditView(params), [params]);
  const show = useCallback(
    (next: Partial<AuditView>, options?: { replace?: boolean }) =>
      go(writeAuditView({ ...view, ...next }, params.zone), options),
    [go, view, params.zone],
  );
  const list = useEntries(view);
  const { entries } = list;
  const only = (field: AuditField, value: string) => show({ [field]: [value], entry: undefined });
  return (
    <AdminFrame page="Audit">
      <Panel
        heading="Audit"
        count={countText(list)}
        tools={
          <>
            <AuditSearch query={view.query} onQuery={(query) => show({ query })} />
            <AuditWindow
              from={view.from}
              until={view.until}
              onChange={(from, until) => show({ from, until })}
            />
            <Button
              look="ghost"
              icon="refresh"
              aria-label="Read again"
              title="Read again"
              onClick={list.refresh}
            />
            <a
              href={underBase(getExportAuditEntriesUrl(auditParams(view)))}
              download
              className={buttonClass()}
              title="Download every entry of this filter, one JSON object a line. The last line of a whole file says that it is complete."
            >
              <Icon name="download" className="-ml-0.5 text-ink-2" />
              NDJSON
            </a>
          </>
        }
      >
        <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-1.5">
          <StateFilter
            label="Outcome"
            all={outcomes}
            chosen={view.outcomes}
            onChange={(chosen) => show({ outcomes: chosen })}
          />
          <AuditChips view={view} onChange={show} />
        </div>
        {list.error && (
          <ListError
            fact="The record could not be read."
            error={list.error}
            stale={entries !== undefined}
            onRetry={list.refresh}
          />
        )}
        {!entries && !list.error && <LoadingEntries />}
        {entries?.length === 0 && (
          <NoEntries filtered={isFiltered(view)} onAll={() => show({ ...wholeRecord, entry: view.entry })} />
        )}
        {entries && entries.length > 0 && (
          <>
            <AuditTable
              entries={entries}
              outdated={list.outdated}
              open={view.entry}
              onOpen={(entry) => show({ entry: entry && operationOf(entry.name) }, { replace: true })}
              onOnly={only}
            />
            <Older list={list} />
          </>
        )}
      </Panel>
    </AdminFrame>
  );
}

function countText({ entries, hasOlder, outdated, reading }: Entries): string {
  if (!entries) return reading ? "Reading…" : "";
  if (outdated) return "Searching…";
  const number = `${entries.length.toLocaleString("en")} ${entries.length === 1 ? "entry" : "entries"}`;
  return `append-only, ${hasOlder ? "≥ " : ""}${number}`;
}

function Older({ list }: { list: Entries }) {
  const { hasOlder, older, loadingOlder, olderError, outdated } = list;
  if (outdated) return null;
  return (
    <div className="flex min-h-10 flex-wrap items-center gap-3 px-4 py-1.5 t-12 text-ink-2">
      {olderError ? (
        <span role="alert" className="text-error">
          {olderError.message} The entries above are complete.
        </span>
      ) : (
        !hasOlder && "No older entries."
      )}
      {hasOlder && (
        <Button size="small" onClick={older} unavailable={loadingOlder ? "They are being read." : undefined}>
          {loadingOlder ? "Reading…" : olderError ? "Try again" : "Load older"}
        </Button>
      )}
    </div>
  );
}

function NoEntries({ filtered, onAll }: { filtered: boolean; onAll: () => void }) {
  return (
    <div className="grid min-h-48 place-content-center">
      {filtered ? (
        <Blank icon="search" heading="No entries match" headingLevel="h3">
          <p>Actor, action and target are whole values; a * at the end takes all that begin so.</p>
          <Button onClick={onAll}>Remove the filters</Button>
        </Blank>
      ) : (
        <Blank icon="list" heading="Nothing is on the record yet" headingLevel="h3">
          <p>Sign-ins, tokens made and revoked, and what operators do will be.</p>
        </Blank>
      )}
    </div>
  );
}

function LoadingEntries() {
  return (
    <div role="status" aria-label="Reading the record">
      {Array.from({ length: 10 }, (_, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike
          key={index}
          className="grid h-14 grid-cols-[120px_1fr_2fr] items-center gap-4 border-b border-line px-4 last:border-b-0 wide:h-7"
        >
          <Skeleton width="110px" />
          <Skeleton width="60%" />
          <Skeleton width={index % 2 === 0 ? "70%" : "52%"} />
        </div>
      ))}
    </div>
  );
}
