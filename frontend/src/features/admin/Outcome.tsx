import type { AuditOutcome } from "#/api/oriel.gen.ts";
import { Icon } from "#/ui/icons.tsx";

/** Of what was begun and has no end on the record. */
export const unknownText =
  "That it was begun is on the record, and no end is. It is still running, or the program stopped before it could say: what it was to do may have happened or not.";

const looks: Readonly<Record<AuditOutcome, { look: string; title: string }>> = {
  done: { look: "text-accent", title: "It was done." },
  refused: { look: "text-error", title: "It was not allowed or not possible; nothing was done." },
  failed: { look: "text-error", title: "It broke; what had begun was taken back." },
  unknown: { look: "text-warning", title: unknownText },
};

/** How an operation ended: a shape and its word. */
export function Outcome({ outcome }: { outcome: AuditOutcome }) {
  const { look, title } = looks[outcome];
  return (
    <span className={`inline-flex items-center gap-1.5 align-middle ${look}`} title={title}>
      <Shape outcome={outcome} />
      {outcome}
    </span>
  );
}

function Shape({ outcome }: { outcome: AuditOutcome }) {
  if (outcome === "done") return <Icon name="check" small />;
  return (
    <svg aria-hidden="true" viewBox="0 0 12 12" className="size-3 flex-none fill-current">
      {outcome === "unknown" ? (
        <circle cx="6" cy="6" r="3.25" fill="none" stroke="currentColor" strokeWidth="1.5" />
      ) : (
        <path d={outcome === "refused" ? "M6 .75 11.25 6 6 11.25.75 6z" : "M2 2h8v8H2z"} />
      )}
    </svg>
  );
}
