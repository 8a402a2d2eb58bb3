import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type AuditEntry, getExportAuditEntriesUrl, listAuditEntries } from "#/api/oriel.gen.ts";
import { underBase } from "#/lib/base.ts";
import { ApiError, plainly } from "#/lib/http.ts";
import { Blank } from "#/ui/blank.tsx";
import { Button, buttonClass, Note, Skeleton } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { useUrl } from "#/ui/url.ts";
import { Visible } from "#/ui/visible.tsx";
import { AdminFrame, Panel } from "./AdminFrame.tsx";
import { AuditChips } from "./AuditChips.tsx";
import { AuditSearch } from "./AuditSearch.tsx";
import { AuditSkeleton, AuditTable, unfoldOf } from "./AuditTable.tsx";
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
  const [exportError, setExportError] = useState<Error>();
  const { entries } = list;
  const focusOlder = useFocusOlder(entries);
  const unknownOutcomes = [...new Set(params.outcome)].filter(
    (one) => !outcomes.some((known) => known === one),
  );
  const settled = view.entry !== undefined && entries !== undefined && !list.outdated && !list.reading;
  const found = entries?.some(({ name }) => operationOf(name) === view.entry) ?? false;
  // One that was here and is not any longer was excluded by a filter that was set since.
  const [seen, setSeen] = useState<string>();
  useEffect(() => {
    if (found) setSeen(view.entry);
    else if (settled && seen === view.entry) show({ entry: undefined }, { replace: true });
  }, [found, settled, seen, view.entry, show]);
  const only = (field: AuditField, value: string) => show({ [field]: [value], entry: undefined });
  return (
    <AdminFrame page="Audit">
      <Panel
        heading="Audit"
        count={countText(list, isFiltered(view))}
        tools={
          <>
            <AuditSearch query={view.query} onQuery={(query) => show({ query })} />
            <span className="min-w-0 max-wide:order-2">
              <AuditWindow
                from={view.from}
                until={view.until}
                onChange={(from, until) => show({ from, until })}
              />
            </span>
            <Button
              look="ghost"
              icon="refresh"
              aria-label="Read again"
              title="Read again"
              onClick={list.refresh}
            />
            <Export view={view} onFailed={setExportError} />
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
        {exportError && (
          <ListError fact="Nothing was downloaded." error={exportError} stale={false} onRetry={undefined} />
        )}
        {unknownOutcomes.length > 0 && (
          <div className="p-3">
            <Note
              look="warning"
              fact={`The address asks for ${unknownOutcomes.length === 1 ? "an outcome" : "outcomes"} that there ${unknownOutcomes.length === 1 ? "is not" : "are not"}.`}
            >
              <Visible text={unknownOutcomes.join(", ")} /> was left out; {outcomes.join(", ")} can be asked
              for.
            </Note>
          </div>
        )}
        {settled && !found && seen !== view.entry && (
          <NotLoaded
            list={list}
            filtered={isFiltered(view)}
            onAll={() => show({ ...wholeRecord, entry: view.entry })}
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
            <Older list={list} onOlder={focusOlder} />
          </>
        )}
      </Panel>
    </AdminFrame>
  );
}

function countText({ entries, hasOlder, outdated, reading }: Entries, filtered: boolean): string {
  if (!entries) return reading ? "Reading…" : "";
  if (outdated) return "Searching…";
  const one = entries.length === 1;
  const number = `${hasOlder ? "≥ " : ""}${entries.length.toLocaleString("en")} ${one ? "entry" : "entries"}`;
  return filtered ? `${number} ${one ? "matches" : "match"}` : `append-only, ${number}`;
}

/** Once the older ones are there, the first of them has the focus. */
function useFocusOlder(entries: readonly AuditEntry[] | undefined): () => void {
  const after = useRef<number>(undefined);
  useEffect(() => {
    const first = after.current === undefined ? undefined : entries?.[after.current];
    if (!first) return;
    after.current = undefined;
    unfoldOf(first.name)?.focus();
  });
  return () => {
    after.current = entries?.length;
  };
}

/**
 * The same filter as a file. A browser that is refused a download says nothing that helps: it is asked
 * first whether there would be one.
 */
function Export({ view, onFailed }: { view: AuditView; onFailed: (error: Error | undefined) => void }) {
  const allowed = useRef(false);
  const filter = auditParams(view);
  const check = async (link: HTMLAnchorElement) => {
    onFailed(undefined);
    try {
      await listAuditEntries({ ...filter, pageSize: 1 });
    } catch (error) {
      // What concerns the session is said over the page.
      const told = error instanceof ApiError && plainly(error, "") !== undefined;
      if (!told || error.code === 429) onFailed(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    allowed.current = true;
    link.click();
  };
  return (
    <a
      href={underBase(getExportAuditEntriesUrl(filter))}
      download
      className={`${buttonClass()} max-wide:order-2`}
      title="Download every entry of this filter, one JSON object a line. The last line of a whole file says that it is complete."
      onClick={(event) => {
        if (allowed.current) {
          allowed.current = false;
          return;
        }
        event.preventDefault();
        void check(event.currentTarget);
      }}
    >
      <Icon name="download" className="-ml-0.5 text-ink-2" />
      NDJSON
    </a>
  );
}

/** The address names an entry that is not among those loaded. */
function NotLoaded({ list, filtered, onAll }: { list: Entries; filtered: boolean; onAll: () => void }) {
  const { hasOlder, older, loadingOlder } = list;
  return (
    <div className="p-3">
      <Note
        look="info"
        fact="The entry of this address is not among those below."
        actions={
          <>
            {hasOlder && (
              <Button
                size="small"
                onClick={older}
                unavailable={loadingOlder ? "They are being read." : undefined}
              >
                Load older entries
              </Button>
            )}
            {filtered && (
              <Button size="small" onClick={onAll}>
                Remove the filters
              </Button>
            )}
          </>
        }
      >
        {hasOlder ? "It may be older than what is loaded." : !filtered && "There is none of its name."}
        {filtered && " The filter may exclude it."}
      </Note>
    </div>
  );
}

function Older({ list, onOlder }: { list: Entries; onOlder: () => void }) {
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
        <Button
          size="small"
          onClick={() => {
            onOlder();
            older();
          }}
          unavailable={loadingOlder ? "They are being read." : undefined}
        >
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
  const narrow = useNarrow();
  return (
    <div role="status" aria-label="Reading the record">
      {narrow ? (
        Array.from({ length: 10 }, (_, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike
            key={index}
            className="grid h-14 grid-cols-[120px_1fr] items-center gap-4 border-b border-line px-4 last:border-b-0"
          >
            <Skeleton width="110px" />
            <Skeleton width={index % 2 === 0 ? "70%" : "52%"} />
          </div>
        ))
      ) : (
        <AuditSkeleton />
      )}
    </div>
  );
}
