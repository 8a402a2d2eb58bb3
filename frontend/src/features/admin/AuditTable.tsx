import { Fragment } from "react";
import type { AuditEntry } from "#/api/oriel.gen.ts";
import { dateAndTime, shortDay, timeOfDay } from "#/lib/time.ts";
import { Icon } from "#/ui/icons.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { AuditDetail } from "./AuditDetail.tsx";
import { type AuditField, operationOf } from "./audit-url.ts";
import { Outcome } from "./Outcome.tsx";

interface Rows {
  readonly entries: readonly AuditEntry[];
  readonly outdated: boolean;
  /** The operation of the unfolded entry. */
  readonly open: string | undefined;
  readonly onOpen: (entry: AuditEntry | undefined) => void;
  /** Shows only the entries with a value. */
  readonly onOnly: (field: AuditField, value: string) => void;
}

export function AuditTable(rows: Rows) {
  const narrow = useNarrow();
  return narrow ? <Stacked {...rows} /> : <Table {...rows} />;
}

const head = "h-7 border-b border-line px-2 text-left t-11 font-medium whitespace-nowrap text-ink-2";
const cell = "border-b border-line px-2";

function Table({ entries, outdated, open, onOpen, onOnly }: Rows) {
  const zone = useZone();
  return (
    <table aria-busy={outdated} className="w-full border-collapse t-12 aria-busy:text-ink-3">
      <thead>
        <tr>
          <th className={`${head} pl-4`}>Time, {zone}</th>
          <th className={head}>Who</th>
          <th className={head}>Action</th>
          <th className={`${head} w-full`}>Target and reason</th>
          <th className={head}>Outcome</th>
          <th className={`${head} pr-4`}>
            <span className="sr-only">Unfold</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => {
          const shown = operationOf(entry.name) === open;
          return (
            <Fragment key={entry.name}>
              <tr
                className={`h-7 ${shown ? "bg-accent-tint shadow-[inset_2px_0_0_var(--color-accent-fill)]" : "hover:bg-hover"}`}
                onClick={(event) => {
                  if (selecting(event.currentTarget)) return;
                  onOpen(shown ? undefined : entry);
                }}
              >
                <td className={`${cell} pl-4 mono-12 whitespace-nowrap text-ink-2`}>
                  <When time={entry.intentTime} />
                </td>
                <td className={`${cell} max-w-60 cut`}>
                  <Who entry={entry} />
                </td>
                <td className={`${cell} mono-12 whitespace-nowrap`}>
                  <Visible text={entry.action} />
                </td>
                <td className={`${cell} max-w-0 cut text-ink-2`}>
                  <TargetAndReason entry={entry} />
                </td>
                <td className={`${cell} whitespace-nowrap`}>
                  <Outcome outcome={entry.outcome} />
                </td>
                <td className={`${cell} pr-3`}>
                  <Unfold entry={entry} shown={shown} onOpen={onOpen} />
                </td>
              </tr>
              {shown && (
                <tr>
                  <td colSpan={6} className="border-b border-line bg-sunken p-0">
                    <AuditDetail entry={entry} onOnly={onOnly} />
                  </td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

/** Text of the row is being selected, which ends in a click. */
function selecting(row: Element): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && row.contains(selection.anchorNode);
}

function Stacked({ entries, outdated, open, onOpen, onOnly }: Rows) {
  return (
    <ul aria-busy={outdated} aria-label="Entries" className="t-12 aria-busy:text-ink-3">
      {entries.map((entry) => {
        const shown = operationOf(entry.name) === open;
        return (
          <li key={entry.name} className="border-b border-line">
            <div className={`flex items-center gap-2 py-2 pr-2 pl-4 ${shown ? "bg-accent-tint" : ""}`}>
              <div className="grid min-w-0 flex-1 gap-0.5">
                <span className="flex flex-wrap items-baseline gap-x-2">
                  <span className="mono-12 wrap-anywhere">
                    <Visible text={entry.action} />
                  </span>
                  <span className="ml-auto">
                    <Outcome outcome={entry.outcome} />
                  </span>
                </span>
                <span className="flex flex-wrap items-baseline gap-x-2">
                  <span className="min-w-0 wrap-anywhere">
                    <Who entry={entry} />
                  </span>
                  <span className="ml-auto mono-12 text-ink-2">
                    <When time={entry.intentTime} />
                  </span>
                </span>
                {(entry.target || entry.reason) && (
                  <span className="text-ink-2 wrap-anywhere">
                    <TargetAndReason entry={entry} />
                  </span>
                )}
              </div>
              <Unfold entry={entry} shown={shown} onOpen={onOpen} />
            </div>
            {shown && (
              <div className="bg-sunken">
                <AuditDetail entry={entry} onOnly={onOnly} />
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Unfold({
  entry,
  shown,
  onOpen,
}: {
  entry: AuditEntry;
  shown: boolean;
  onOpen: (entry: AuditEntry | undefined) => void;
}) {
  return (
    <button
      type="button"
      aria-expanded={shown}
      aria-label={`${entry.action} by ${entry.actor}`}
      className="grid size-10 place-items-center rounded-2 text-ink-2 hover:bg-active hover:text-ink wide:size-6"
      onClick={(event) => {
        // The row has the same click.
        event.stopPropagation();
        onOpen(shown ? undefined : entry);
      }}
    >
      <Icon name={shown ? "down" : "right"} small />
    </button>
  );
}

function When({ time }: { time: string }) {
  const zone = useZone();
  return (
    <time dateTime={time} title={dateAndTime(time, zone)}>
      <span className="text-ink-3">{shortDay(time, zone)}</span> {timeOfDay(time, zone)}
    </time>
  );
}

/** A person with the highest role they had, a program with what it was. */
function Who({ entry: { actor, actorKind, roles } }: { entry: AuditEntry }) {
  const as = actorKind === "person" ? (roles.at(-1) ?? "no role") : actorKind;
  return (
    <>
      <Visible text={actor} /> <span className="text-ink-3">{as}</span>
    </>
  );
}

function TargetAndReason({ entry: { target, reason } }: { entry: AuditEntry }) {
  return (
    <>
      <Visible text={target} />
      {reason !== "" && (
        <span className="text-ink-3">
          {target !== "" && " "}“<Visible text={reason} />”
        </span>
      )}
    </>
  );
}
