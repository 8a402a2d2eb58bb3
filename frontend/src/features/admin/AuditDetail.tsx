import { Fragment, type ReactNode } from "react";
import type { AuditEntry } from "#/api/oriel.gen.ts";
import { dateAndTime } from "#/lib/time.ts";
import { Button, Note } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import type { AuditField } from "./audit-url.ts";
import { type DiffLine, diff } from "./diff.ts";
import { unknownText } from "./Outcome.tsx";

/** All that the record has of one operation. */
export function AuditDetail({
  entry,
  onOnly,
}: {
  entry: AuditEntry;
  onOnly: (field: AuditField, value: string) => void;
}) {
  const zone = useZone();
  const copy = useCopy();
  const lines = diff(entry.before, entry.after);
  const only = (field: AuditField, value: string) =>
    value !== "" && <Only field={field} value={value} onOnly={onOnly} />;
  return (
    <div className="grid gap-x-6 gap-y-3 px-4 py-3 wide:grid-cols-2">
      <dl className="grid grid-cols-[96px_minmax(0,1fr)] content-start">
        <Fact name="intent">{dateAndTime(entry.intentTime, zone)}</Fact>
        <Fact name="outcome">
          {entry.outcomeTime ? (
            <>
              {dateAndTime(entry.outcomeTime, zone)} <span className="text-ink-3">{entry.outcome}</span>
            </>
          ) : (
            entry.outcome
          )}
        </Fact>
        {entry.detail !== "" && (
          <Fact name="why">
            <Visible text={entry.detail} />
          </Fact>
        )}
        <Fact name="actor" action={only("actor", entry.actor)}>
          <Visible text={entry.actor} />
        </Fact>
        <Fact name="actor id">
          <Visible text={entry.actorId} />
        </Fact>
        <Fact name={entry.actorKind === "person" ? "roles" : "scopes"}>
          {entry.roles.length === 0 ? <None /> : <Visible text={entry.roles.join(", ")} />}
        </Fact>
        <Fact name="action" action={only("action", entry.action)}>
          <Visible text={entry.action} />
        </Fact>
        <Fact name="target" action={only("target", entry.target)}>
          {entry.target === "" ? <None /> : <Visible text={entry.target} />}
        </Fact>
        <Fact name="reason">{entry.reason === "" ? <None /> : <Visible text={entry.reason} />}</Fact>
        <Fact
          name="request id"
          action={
            entry.requestId !== "" && (
              <Button
                size="small"
                look="ghost"
                icon="copy"
                className="-my-2.5 wide:-my-1"
                aria-label="Copy the request id"
                title="Copy"
                onClick={() => copy(entry.requestId, "the request id")}
              />
            )
          }
        >
          {entry.requestId === "" ? <None /> : <Visible text={entry.requestId} />}
        </Fact>
        <Fact name="address">{entry.address === "" ? <None /> : <Visible text={entry.address} />}</Fact>
      </dl>
      <div className="min-w-0">
        {entry.outcome === "unknown" && (
          <div className="mb-3">
            <Note look="warning" fact="How it ended is not known.">
              {unknownText}
            </Note>
          </div>
        )}
        <h3 className="mb-1 t-12 font-semibold text-ink-2">Before and after</h3>
        {lines.length === 0 ? (
          <p className="t-12 text-ink-3">Nothing that is kept was changed.</p>
        ) : (
          <Diff lines={lines} />
        )}
      </div>
    </div>
  );
}

const None = () => <span className="text-ink-3">—</span>;

function Fact({ name, action, children }: { name: string; action?: ReactNode; children: ReactNode }) {
  return (
    <Fragment>
      <dt className="py-0.5 t-12 text-ink-3">{name}</dt>
      <dd className="flex items-center gap-2 py-0.5 mono-12">
        <span className="min-w-0 wrap-anywhere">{children}</span>
        {action}
      </dd>
    </Fragment>
  );
}

function Only({
  field,
  value,
  onOnly,
}: {
  field: AuditField;
  value: string;
  onOnly: (field: AuditField, value: string) => void;
}) {
  return (
    <Button
      size="small"
      look="ghost"
      className="-my-2.5 wide:-my-1"
      aria-label={`Only ${field} ${value}`}
      title={`Show only entries with this ${field}`}
      // In a filter a final * would take more than this value.
      unavailable={value.endsWith("*") ? "It ends in *, which a filter reads as a beginning." : undefined}
      onClick={() => onOnly(field, value)}
    >
      only
    </Button>
  );
}

const marks: Readonly<Record<DiffLine["kind"], { sign: string; word: string; look: string }>> = {
  same: { sign: " ", word: "unchanged", look: "" },
  removed: { sign: "−", word: "before", look: "text-error" },
  added: { sign: "+", word: "after", look: "text-accent" },
};

function Diff({ lines }: { lines: readonly DiffLine[] }) {
  return (
    <ul
      aria-label="Before and after"
      className="grid grid-cols-[12px_fit-content(40%)_minmax(0,1fr)] gap-x-2 mono-12 leading-4.5"
    >
      {lines.map(({ kind, key, value }) => {
        const { sign, word, look } = marks[kind];
        return (
          <li key={`${kind} ${key}`} className={`col-span-3 grid grid-cols-subgrid ${look}`}>
            <span>
              <span aria-hidden="true">{sign}</span>
              <span className="sr-only">{word}</span>
            </span>
            <span className={kind === "same" ? "text-ink-2" : ""}>
              <Visible text={key} />
            </span>
            <span className="wrap-anywhere">
              {value === "" ? <span className="text-ink-3">""</span> : <Visible text={value} />}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
