import { ApiError, codesOf } from "#/lib/http.ts";
import type { Density, Filter, Search } from "#/lib/search.ts";
import { rangeText } from "#/lib/time.ts";
import { Blank } from "#/ui/blank.tsx";
import { Button, Note, Skeleton } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { useRetry, WaysOn } from "./StatusStrip.tsx";
import type { Found, Run } from "./useRun.ts";
import { byParts, isLastDay, type WayOut } from "./ways-out.ts";

const widths: readonly (readonly [string, string, string])[] = [
  ["88%", "72%", "64%"],
  ["70%", "60%", "80%"],
  ["82%", "72%", "40%"],
  ["64%", "66%", "72%"],
  ["90%", "72%", "52%"],
];

const skeletonHeights: Readonly<Record<Density, string>> = {
  dense: "wide:h-6",
  normal: "wide:h-7",
  roomy: "wide:h-9",
};

/** Rows of the height and columns that the real ones will have. */
export function LoadingRows({
  narrow,
  columns,
  density,
}: {
  narrow: boolean;
  columns: number;
  density: Density;
}) {
  return (
    <div role="row" className="contents">
      <div role="gridcell" aria-label="Searching" className="contents">
        {Array.from({ length: narrow ? 12 : 24 }, (_, index) => {
          const row = widths[index % widths.length] ?? ["80%", "70%", "60%"];
          return (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike
              key={index}
              className={`grid h-14 grid-cols-[84px_52px_minmax(0,1fr)] items-center gap-x-2 px-4 hairline wide:grid-cols-(--list-columns) wide:px-3 ${skeletonHeights[density]}`}
            >
              {Array.from({ length: narrow ? 3 : columns }, (_, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <Skeleton key={column} width={column < 2 ? "70%" : (row[column % row.length] ?? "80%")} />
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

export function EmptyResults({
  found,
  search,
  onQuery,
  onFilters,
  onWindow,
}: {
  found: Found;
  search: Search;
  onQuery: (query: string) => void;
  onFilters: (filters: readonly Filter[]) => void;
  onWindow: (from: string | undefined, until: string | undefined) => void;
}) {
  const zone = useZone();
  const filtered = search.filters.length > 0;
  const words = search.query !== "";
  const parts = byParts(search.query);
  return (
    <div role="row">
      {/* Beside the event that lies over the list. */}
      <div
        role="gridcell"
        className="grid min-h-80 place-content-center wide:group-data-open:mr-(--drawer) dock:group-data-open:mr-0"
      >
        <Blank
          icon={filtered || words ? "search" : "clock"}
          heading={filtered || words ? "No events match" : "No events in this window"}
        >
          <p>
            Nothing {rangeText(found.from, found.until, zone)} {zone}
            {words && (
              <>
                {" "}
                with the query{" "}
                <span className="mono-12 text-ink wrap-anywhere">
                  <Visible text={search.query} />
                </span>
              </>
            )}
            {filtered &&
              `${words ? " and" : " with"} the ${search.filters.length === 1 ? "filter" : "filters"} above`}
            .
          </p>
          {words && (
            <p className="text-ink-3">
              {parts
                ? "A field is compared with its whole value; ~ looks for a part of it."
                : "Words are looked for in attributes, JSON and text; not in XML, CSV and binary data."}
            </p>
          )}
          <div className="flex flex-wrap justify-center gap-2">
            {parts && (
              <Button onClick={() => onQuery(parts)}>
                Search for <span className="max-w-60 cut mono-12">{parts}</span>
              </Button>
            )}
            {filtered && (
              <Button onClick={() => onFilters([])}>
                Remove the {search.filters.length === 1 ? "filter" : "filters"}
              </Button>
            )}
            {!isLastDay(search) && (
              <Button onClick={() => onWindow(undefined, undefined)}>Last 24 hours</Button>
            )}
            {(search.from !== "-30d" || search.until !== undefined) && (
              <Button onClick={() => onWindow("-30d", undefined)}>Last 30 days</Button>
            )}
          </div>
        </Blank>
      </div>
    </div>
  );
}

/** In the place of the rows where there have never been any. */
export function FailedResults({
  run,
  error,
  inQuery,
  ways,
}: {
  run: Run;
  error: Error;
  inQuery: boolean;
  /** What may help where asking again does not. */
  ways: readonly WayOut[];
}) {
  const copy = useCopy();
  const left = useRetry(error, run);
  const codes = error instanceof ApiError ? codesOf(error) : error.name;
  const refused = error instanceof ApiError && error.code === 400;
  return (
    <div className="min-h-0 flex-1 overflow-auto p-4">
      <Note
        look="error"
        fact={
          refused ? (inQuery ? "The query was not run." : "The search was refused.") : "The search failed."
        }
        codes={codes}
        actions={
          <>
            <WaysOn run={run} error={error} waysOut={inQuery ? [] : ways} look="plain" word="Try again" />
            <Button
              size="small"
              look="ghost"
              icon="copy"
              onClick={() => copy(`${error.message}\n${codes}`, "the details")}
            >
              Copy details
            </Button>
          </>
        }
      >
        {error.message}
        {left !== undefined && ` Trying again in ${left} s.`}
      </Note>
    </div>
  );
}

/** In the place of the rows where the first search was given up. */
export function CancelledResults({ onAgain }: { onAgain: () => void }) {
  return (
    <div className="grid min-h-0 flex-1 place-content-center overflow-auto">
      <Blank icon="clock" heading="The search was cancelled">
        <p>No rows were read.</p>
        <Button onClick={onAgain}>Search again</Button>
      </Blank>
    </div>
  );
}
