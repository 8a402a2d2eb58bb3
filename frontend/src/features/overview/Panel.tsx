import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ApiError, codesOf } from "#/lib/http.ts";
import type { Params } from "#/lib/search.ts";
import { utc } from "#/lib/time.ts";
import { Button, Note, Skeleton } from "#/ui/controls.tsx";
import { useZone } from "#/ui/zone.tsx";
import { searchIn, type Window } from "./numbers.ts";

export function Panel({
  heading,
  beside,
  tools,
  children,
}: {
  heading: string;
  /** What the numbers are of. */
  beside?: ReactNode;
  tools?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={heading} className="flex min-w-0 flex-col rounded-3 border border-line bg-surface">
      <header className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-4 py-1.5">
        <h2 className="t-13 font-semibold">{heading}</h2>
        <span className="min-w-0 flex-1 cut t-11 text-ink-3">{beside}</span>
        {tools}
      </header>
      {children}
    </section>
  );
}

interface Read {
  readonly data: unknown;
  readonly error: Error | null;
  readonly again: () => void;
}

/** In the room of a box: what it shows, that it is being read, or that it was not. */
export function Shown({
  box,
  what,
  height,
  children,
}: {
  box: Read;
  what: string;
  /** Of the box before its numbers are here. */
  height: string;
  children: ReactNode;
}) {
  const failed = box.error && (
    <div className="p-3">
      <Note
        look="error"
        fact={box.data === undefined ? `${what} could not be read.` : `${what} may be old.`}
        codes={box.error instanceof ApiError ? codesOf(box.error) : undefined}
        actions={
          <Button size="small" icon="refresh" onClick={box.again}>
            Try again
          </Button>
        }
      >
        {box.error.message}
      </Note>
    </div>
  );
  if (box.data !== undefined) {
    return (
      <>
        {failed}
        {children}
      </>
    );
  }
  return (
    <div className={height}>
      {failed || (
        <div role="status" aria-label={`Reading: ${what}`} className="grid gap-4 p-4">
          <Skeleton width="60%" />
          <Skeleton width="40%" />
          <Skeleton width="70%" />
        </div>
      )}
    </div>
  );
}

/** What shows that something leads somewhere. */
export const proofClass =
  "underline decoration-line-3 decoration-dotted underline-offset-3 hover:decoration-current hover:decoration-solid";

/** Opens the search that finds what a number counts. */
export function Proof({
  window,
  filters,
  className = proofClass,
  title,
  label,
  tabIndex,
  children,
}: {
  window: Window;
  filters?: Params | undefined;
  className?: string;
  title?: string;
  label?: string;
  tabIndex?: number;
  children?: ReactNode;
}) {
  const zone = useZone();
  return (
    <Link
      to="/explore"
      search={searchIn(window, filters, zone === utc ? undefined : zone)}
      className={className}
      title={title}
      aria-label={label}
      tabIndex={tabIndex}
    >
      {children}
    </Link>
  );
}
