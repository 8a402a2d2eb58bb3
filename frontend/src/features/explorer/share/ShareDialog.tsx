import { skipToken, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { createShareLink } from "#/api/oriel.gen.ts";
import { underBase } from "#/lib/base.ts";
import { ApiError, codesOf } from "#/lib/http.ts";
import { formatQuery, type Search } from "#/lib/search.ts";
import { dateAndTime } from "#/lib/time.ts";
import { Button, Note, Segments } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { Field, inputClass } from "#/ui/field.tsx";
import { useZone } from "#/ui/zone.tsx";
import type { Run } from "../useRun.ts";
import {
  besideFilter,
  datesOf,
  filterText,
  linkOf,
  longestLink,
  rolls,
  shared,
  type Window,
} from "./link.ts";

type Times = "fixed" | "rolling";

const n = new Intl.NumberFormat("en").format;

/** The address of what the page shows, at fixed times or rolling on, and short where it is long. */
export function ShareDialog({ search, run, onClose }: { search: Search; run: Run; onClose: () => void }) {
  const copy = useCopy();
  const moving = rolls(search);
  // As of when it was opened: a new snapshot below does not change what is being copied.
  const [dates] = useState(() => datesOf(run.taken?.snapshot, run.taken?.takenAt));
  const [times, setTimes] = useState<Times>(dates ? "fixed" : "rolling");
  const fixed = moving && times === "fixed" ? dates : undefined;
  const target = shared(search, fixed);
  const whole = linkOf(target, `${location.origin}${underBase("/explore")}`);
  const [wanted, setShort] = useState<boolean>();
  const short = wanted ?? whole.length > longestLink;
  const params = filterText(target);
  const made = useQuery({
    queryKey: ["share-link", "made", params],
    queryFn: short ? ({ signal }) => createShareLink({ params }, { signal }) : skipToken,
    retry: false,
  });
  const shortLink =
    made.data && `${new URL(made.data.url, location.href).href}${formatQuery(besideFilter(target))}`;
  const link = short ? shortLink : whole;
  return (
    <Dialog heading="Share this search" onClose={onClose}>
      {(close) => (
        <>
          <div className="grid gap-3 px-5 pt-3 pb-4 t-12">
            {moving ? (
              <TimesChoice
                search={search}
                dates={dates}
                fixed={fixed !== undefined}
                onFixed={(next) => setTimes(next ? "fixed" : "rolling")}
              />
            ) : (
              <p className="text-ink-2">The window has fixed dates already.</p>
            )}
            <Field
              label="Link"
              hint={
                short
                  ? "A short link keeps the filter here. One that nobody opens for a year is removed."
                  : whole.length > longestLink
                    ? `It has ${n(whole.length)} characters, and mail and chats often cut such a link.`
                    : "Query, filters, columns, zone and the open event are in it."
              }
              fault={undefined}
            >
              {(tied) => (
                <input
                  {...tied}
                  readOnly
                  value={link ?? ""}
                  placeholder={made.error ? "" : "The short link is being made…"}
                  className={`${inputClass()} h-11 mono-12 wide:h-8`}
                  onFocus={(event) => event.currentTarget.select()}
                />
              )}
            </Field>
            <label className="flex min-h-10 items-center gap-2 wide:min-h-0">
              <input
                type="checkbox"
                className="size-4 accent-accent-fill"
                checked={short}
                onChange={(event) => setShort(event.currentTarget.checked)}
              />
              Short link
            </label>
            {short && made.error && (
              <Note
                look="error"
                fact="The short link was not made."
                codes={made.error instanceof ApiError ? codesOf(made.error) : undefined}
                actions={
                  <Button size="small" icon="refresh" onClick={() => void made.refetch()}>
                    Try again
                  </Button>
                }
              >
                {made.error.message}
              </Note>
            )}
          </div>
          <DialogFooter>
            <Button onClick={close}>Close</Button>
            <Button
              look="primary"
              icon="copy"
              data-autofocus
              unavailable={
                link === undefined
                  ? made.error
                    ? "There is no short link to copy."
                    : "The short link is being made."
                  : undefined
              }
              onClick={() => link !== undefined && copy(link, "the link", close)}
            >
              Copy link
            </Button>
          </DialogFooter>
        </>
      )}
    </Dialog>
  );
}

function TimesChoice({
  search,
  dates,
  fixed,
  onFixed,
}: {
  search: Search;
  /** Undefined where the search was not answered. */
  dates: Window | undefined;
  fixed: boolean;
  onFixed: (fixed: boolean) => void;
}) {
  const zone = useZone();
  return (
    <div className="grid gap-1.5">
      {dates ? (
        <Segments
          label="Times of the link"
          value={fixed ? "fixed" : "rolling"}
          options={[
            { value: "fixed", label: "Fixed times" },
            { value: "rolling", label: "Rolling" },
          ]}
          onChange={(next) => onFixed(next === "fixed")}
        />
      ) : (
        <p className="text-ink-2">
          The search has not been answered, so that its dates are not known: the link rolls on.
        </p>
      )}
      <p className="text-ink-2" aria-live="polite">
        {fixed && dates ? (
          <>
            Whoever opens it sees events from{" "}
            <span className="mono-12 text-ink">{dateAndTime(dates.from, zone, 0)}</span> until{" "}
            <span className="mono-12 text-ink">{dateAndTime(dates.until, zone, 0)}</span>, and those of that
            time that arrive late.
          </>
        ) : (
          <>
            Whoever opens it sees the window of then: from{" "}
            <span className="mono-12 text-ink">{search.from ?? "-24h"}</span>
            {search.until && (
              <>
                {" "}
                until <span className="mono-12 text-ink">{search.until}</span>
              </>
            )}
            .
          </>
        )}
      </p>
    </div>
  );
}
