import { type ReactNode, useEffect, useState } from "react";
import type { Count } from "#/api/oriel.gen.ts";
import { here, signInUrl } from "#/lib/base.ts";
import { ApiError, codesOf, mayHelp } from "#/lib/http.ts";
import { timeOfDay } from "#/lib/time.ts";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Slow } from "#/ui/slow.tsx";
import { useZone } from "#/ui/zone.tsx";
import { NewSnapshot, Total, totalText } from "./Totals.tsx";
import type { Box } from "./useBox.ts";
import type { Found, Run } from "./useRun.ts";
import type { Newer } from "./useTotals.ts";
import type { WayOut } from "./ways-out.ts";

const drawerGap = "wide:group-data-open:mr-(--drawer) dock:group-data-open:mr-0";

/**
 * One line of fixed height above the rows: how many there are and as of when, or why they are old.
 * A failed search takes its place, so that nothing below moves.
 */
export function StatusStrip({
  run,
  fault,
  faultId,
  waysOut,
  total,
  newer,
  legend,
  fields,
}: {
  run: Run;
  /** How many events there are in all. */
  total: Box<Count>;
  newer: Newer | undefined;
  /** What the bars below mean. */
  legend: ReactNode;
  /** Where the fields are hidden: what shows them. */
  fields: ReactNode;
  /** What the server said against the words of the search. */
  fault: ApiError | undefined;
  faultId: string;
  /** What may help where asking again does not. */
  waysOut: readonly WayOut[];
}) {
  const zone = useZone();
  const { found } = run;
  const beside = { fields, legend };
  if (found && fault) return <FaultStrip id={faultId} fault={fault} beside={beside} />;
  if (found && (run.error || run.cancelled)) {
    const shown = <Shown run={run} found={found} total={total} />;
    if (!run.error) return <CancelledStrip run={run} shown={shown} beside={beside} />;
    return <StaleStrip run={run} error={run.error} shown={shown} waysOut={waysOut} beside={beside} />;
  }
  return (
    <div
      className={`@container/strip flex h-10 flex-none items-center gap-3 px-4 t-12 text-ink-2 wide:h-8 short:h-8 wide:px-3 ${drawerGap}`}
    >
      {fields}
      <span className="t-13 font-semibold whitespace-nowrap text-ink" role="status">
        {found && !run.outdated ? <Total run={run} box={total} /> : !run.searching && "Not run"}
        {run.searching && <Slow key={run.id} word="Searching…" onCancel={run.cancel} />}
      </span>
      {found && (
        <span
          // The footer says it too.
          className="min-w-0 shrink-[99] cut text-ink-3 wide:@max-[1100px]/strip:hidden"
          title="Rows, pages and links to them do not change until you ask for a new snapshot."
        >
          {run.outdated ? "Rows of the last search, as of " : "Fixed at "}
          {timeOfDay(found.takenAt, zone, 0)}
        </span>
      )}
      <span className="flex flex-1 items-center justify-end gap-1">{legend}</span>
      {/* As wide whatever it says: what stands beside it never moves. */}
      <span className="flex flex-none justify-end wide:@[600px]/strip:w-31">
        <NewSnapshot newer={newer} onClick={run.again} />
      </span>
    </div>
  );
}

const retryAfter = 5;

const note = `flex h-10 flex-none items-center gap-2 px-4 t-12 text-ink wide:h-8 short:h-8 wide:px-3 ${drawerGap}`;

/** What the line has in every state: it is about the rows and bars that stay. */
interface Beside {
  readonly fields: ReactNode;
  readonly legend: ReactNode;
}

/** The bars' words give way to what is said. */
function Legend({ beside }: { beside: Beside }) {
  return (
    <span className="ml-auto flex min-w-0 shrink-[6] items-center justify-end gap-3 wide:min-w-80 wide:group-data-open:min-w-50 dock:group-data-open:min-w-80">
      {beside.legend}
    </span>
  );
}

/** How many rows stay, as of when, and where they are not those of what is asked for now. */
function Shown({ run, found, total }: { run: Run; found: Found; total: Box<Count> }) {
  const zone = useZone();
  // Of the snapshot of the rows; of any other it counts other ones.
  const count = total.taken?.takenAt === found.takenAt ? total.data : undefined;
  const loaded = found.events.length;
  return (
    <>
      <b className="font-semibold">
        Shown as of {timeOfDay(found.takenAt, zone, 0)}
        {run.former && ", of the former search"}.
      </b>{" "}
      {totalText(loaded, count !== undefined && count.value > loaded, count)}.
    </>
  );
}

function FaultStrip({ id, fault, beside }: { id: string; fault: ApiError; beside: Beside }) {
  const text = `${fault.message} The last results stay below.`;
  return (
    <div
      id={id}
      role="alert"
      className={`relative ${note} bg-error-tint`}
      title={`${text} ${codesOf(fault)}`}
    >
      {beside.fields}
      <Icon name="alert" className="text-error" />
      {/* What the words are moves nothing: they come and go as the query has the focus. */}
      <span className="flex w-0 flex-1 gap-2 overflow-hidden wide:min-w-72">
        <span className="flex-none text-ink-2">The last results stay below.</span>
        {/* Once is enough: below the query, while that has the focus, it stands with what is accepted. */}
        <span className="hidden flex-none group-has-data-mistakes/page:inline" aria-hidden="true">
          The query was not run.
        </span>
        <span className="min-w-0 cut group-has-data-mistakes/page:sr-only">{fault.message}</span>
      </span>
      <Legend beside={beside} />
    </div>
  );
}

function CancelledStrip({ run, shown, beside }: { run: Run; shown: ReactNode; beside: Beside }) {
  return (
    <div className={`${note} bg-warning-tint`}>
      {beside.fields}
      <Icon name="clock" className="text-warning" />
      <span role="status" className="min-w-0 cut">
        {shown} The search was cancelled.
      </span>
      <Button look="ghost" size="small" onClick={run.again}>
        Search again
      </Button>
      <Legend beside={beside} />
    </div>
  );
}

function StaleStrip({
  run,
  error,
  shown,
  waysOut,
  beside,
}: {
  run: Run;
  error: Error;
  shown: ReactNode;
  waysOut: readonly WayOut[];
  beside: Beside;
}) {
  const left = useRetry(error, run);
  return (
    <div className={`${note} bg-warning-tint`}>
      {beside.fields}
      <Icon name="clock" className="text-warning" />
      <span
        role="alert"
        className="min-w-0 cut"
        title={
          error instanceof ApiError ? `${error.message} ${error.status} · ${error.requestId}` : error.message
        }
      >
        {shown} {error.message}
        {left !== undefined && ` Trying again in ${left} s.`}
      </span>
      <WaysOn run={run} error={error} waysOut={waysOut} look="ghost" word="Now" />
      <Legend beside={beside} />
    </div>
  );
}

/** What may help: to ask again, to sign in, or to take from the search what it was refused for. */
export function WaysOn({
  run,
  error,
  waysOut,
  look,
  word,
}: {
  run: Run;
  error: Error;
  waysOut: readonly WayOut[];
  look: "ghost" | "plain";
  /** On the button that asks again. */
  word: string;
}) {
  if (mayHelp(error)) {
    return (
      <Button look={look} size="small" onClick={run.again}>
        {word}
      </Button>
    );
  }
  if (error instanceof ApiError && error.signedOut) {
    return (
      <a href={signInUrl(here())} className={buttonClass(look, "small")}>
        Sign in
      </a>
    );
  }
  if (!(error instanceof ApiError) || error.code !== 400) return null;
  return waysOut.map(({ label, take }) => (
    <Button key={label} look={look} size="small" onClick={take}>
      {label}
    </Button>
  ));
}

/** Searches again by itself while the server cannot be reached, and says in how many seconds. */
export function useRetry(error: Error, run: Run): number | undefined {
  const unreachable = error instanceof ApiError && error.transient;
  return useCountdown(unreachable && !run.searching ? retryAfter : undefined, run.again);
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
