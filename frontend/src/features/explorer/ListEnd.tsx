import { ApiError } from "#/lib/http.ts";
import { dateAndTime } from "#/lib/time.ts";
import { Button } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import type { Found, Run } from "./useRun.ts";

const line = "flex h-full items-center gap-2 px-4 t-12 text-ink-2 wide:px-3";
const newSnapshotReasons = new Set(["SNAPSHOT_EXPIRED", "SNAPSHOT_TOO_OLD", "INVALID_PAGE_TOKEN"]);

/** The last row says whether there is more, and how far was looked where nothing was found. */
export function ListEnd({ run, found, zone }: { run: Run; found: Found; zone: string }) {
  if (run.outdated) return <div role="gridcell" className={line} />;
  if (run.moreError) return <MoreFailed run={run} error={run.moreError} />;
  if (run.loadingMore) {
    return (
      <div role="gridcell" className={line}>
        <span
          aria-hidden="true"
          className="size-2 animate-spin rounded-full border-2 border-info-fill border-r-transparent"
        />
        Reading on…
      </div>
    );
  }
  if (found.lookedInVain) {
    return (
      <div role="gridcell" className={line}>
        <span className="min-w-0 cut">
          Looked back to <span className="mono-12 text-ink">{dateAndTime(found.coveredFrom, zone, 3)}</span>,
          nothing more so far.
        </span>
        <Button size="small" onClick={run.more}>
          Look further back
        </Button>
      </div>
    );
  }
  if (run.hasMore) return <div role="gridcell" className={line} />;
  return (
    <div role="gridcell" className={`${line} text-ink-3`}>
      <span className="min-w-0 cut">
        End of results. The window begins at{" "}
        <span className="mono-12">{dateAndTime(found.from, zone, 0)}</span>.
      </span>
    </div>
  );
}

function MoreFailed({ run, error }: { run: Run; error: Error }) {
  const renew = error instanceof ApiError && newSnapshotReasons.has(error.reason);
  const codes = error instanceof ApiError ? `${error.status} ${error.requestId}` : "";
  return (
    <div role="gridcell" className={`${line} bg-error-tint text-ink`} title={codes}>
      <Icon name="alert" className="text-error" />
      <span className="min-w-0 cut">
        {error.message} {!renew && "The rows above are complete."}
      </span>
      <Button size="small" onClick={renew ? run.again : run.more}>
        {renew ? "New snapshot" : "Try again"}
      </Button>
    </div>
  );
}
