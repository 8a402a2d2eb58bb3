import { useEffect, useState } from "react";
import { ApiError } from "#/lib/http.ts";
import { timeOfDay } from "#/lib/time.ts";
import { Button } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useZone } from "#/ui/zone.tsx";
import type { Run } from "./useRun.ts";

const drawerGap = "wide:group-data-open:mr-(--drawer) dock:group-data-open:mr-0";

/**
 * One line of fixed height above the rows: how many there are and as of when, or why they are old.
 * A failed search takes its place, so that nothing below moves.
 */
export function StatusStrip({ run, faultInQuery }: { run: Run; faultInQuery: boolean }) {
  const zone = useZone();
  const { found } = run;
  if (run.error && !faultInQuery && found) return <StaleStrip run={run} error={run.error} />;
  return (
    <div className={`flex h-8 flex-none items-center gap-3 px-4 t-12 text-ink-2 wide:px-3 ${drawerGap}`}>
      <span className="t-13 font-semibold whitespace-nowrap text-ink" role="status">
        {found && !run.outdated
          ? countText(found.events.length, run.hasMore)
          : run.searching
            ? "Searching…"
            : "Not run"}
      </span>
      {found && (
        <span
          className="min-w-0 cut text-ink-3"
          title="Rows, pages and links to them do not change until you ask for a new snapshot."
        >
          {run.outdated ? "Rows of the last search, as of " : "Fixed at "}
          {timeOfDay(found.takenAt, zone, 0)}
        </span>
      )}
      <span className="flex-1" />
      <Button
        look="ghost"
        size="small"
        icon="refresh"
        title="Search again on a new snapshot (r)"
        onClick={run.again}
      >
        <span className="max-wide:sr-only">New snapshot</span>
      </Button>
    </div>
  );
}

/** Until the end has been reached the number is only what has been loaded. */
function countText(count: number, more: boolean): string {
  const number = `${count.toLocaleString("en")} ${count === 1 ? "event" : "events"}`;
  return more ? `≥ ${number}` : number;
}

const retryAfter = 5;

function StaleStrip({ run, error }: { run: Run; error: Error }) {
  const zone = useZone();
  const unreachable = error instanceof ApiError && error.transient;
  const left = useCountdown(unreachable && !run.searching ? retryAfter : undefined, run.again);
  return (
    <div
      role="alert"
      className={`flex h-8 flex-none items-center gap-2 bg-warning-tint px-4 t-12 text-ink wide:px-3 ${drawerGap}`}
    >
      <Icon name="clock" className="text-warning" />
      <span
        className="min-w-0 cut"
        title={
          error instanceof ApiError ? `${error.message} ${error.status} · ${error.requestId}` : error.message
        }
      >
        <b className="font-semibold">Shown as of {run.found ? timeOfDay(run.found.takenAt, zone, 0) : ""}.</b>{" "}
        {error.message}
        {left !== undefined && ` Trying again in ${left} s.`}
      </span>
      <span className="flex-1" />
      <Button look="ghost" size="small" onClick={run.again}>
        Now
      </Button>
    </div>
  );
}

function useCountdown(seconds: number | undefined, onZero: () => void): number | undefined {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    setLeft(seconds);
    if (seconds === undefined) return;
    let remaining = seconds;
    const timer = setInterval(() => {
      remaining--;
      setLeft(remaining);
      if (remaining <= 0) {
        clearInterval(timer);
        onZero();
      }
    }, 1000);
    return () => clearInterval(timer);
  }, [seconds, onZero]);
  return left;
}
