import type { Count } from "#/api/oriel.gen.ts";
import { Button } from "#/ui/controls.tsx";
import type { Box } from "./useBox.ts";
import type { Run } from "./useRun.ts";
import type { Newer } from "./useTotals.ts";

const events = (count: number) => (count === 1 ? "event" : "events");
const n = (count: number) => count.toLocaleString("en");

/** `1,200 of 48,113 events`: how many rows are loaded, and of how many. Until they are counted, what is known. */
export function totalText(loaded: number, more: boolean, total: Count | undefined): string {
  if (!more) return `${n(loaded)} ${events(loaded)}`;
  if (!total || total.value < loaded) return `≥ ${n(loaded)} ${events(loaded)}`;
  if (total.relation === "sampled") return `${n(loaded)} of about ${n(total.value)} events`;
  const limit = total.relation === "atLeast" ? "≥ " : "";
  return `${n(loaded)} of ${limit}${n(total.value)} ${events(total.value)}`;
}

export function Total({ run, box }: { run: Run; box: Box<Count> }) {
  const { found } = run;
  if (!found) return null;
  const total = box.outdated ? undefined : box.data;
  const text = totalText(found.events.length, run.hasMore || found.lookedInVain, total);
  const partly = total && total.relation !== "exact" && run.hasMore;
  const why = box.error
    ? `Not counted: ${box.error.message}`
    : partly
      ? `Counted back to ${total.covered.from}; there may be more before it.`
      : undefined;
  return (
    <span title={why}>
      {text}
      {box.error && run.hasMore && (
        <Button look="ghost" size="small" className="ml-1" title={why} onClick={box.again}>
          not counted, try again
        </Button>
      )}
    </span>
  );
}

/** Takes a new snapshot; with how many events it would find more, as far as that is known. */
export function NewSnapshot({ newer, onClick }: { newer: Newer | undefined; onClick: () => void }) {
  if (!newer) {
    return (
      <Button
        look="ghost"
        size="small"
        icon="refresh"
        className="max-wide:min-w-10 max-wide:justify-center"
        title="Search again on a new snapshot (r)"
        onClick={onClick}
      >
        <span className="max-wide:sr-only @max-[600px]/strip:sr-only">New snapshot</span>
      </Button>
    );
  }
  const text = newer.gone ? "Snapshot expired" : `${newer.atLeast ? "≥ " : ""}${n(newer.count)} newer`;
  return (
    <Button
      look="ghost"
      size="small"
      icon={newer.gone ? "refresh" : "up"}
      className="bg-accent-tint text-accent!"
      aria-label={`${text}: new snapshot`}
      title={
        newer.gone
          ? "These rows can no longer be read on. Search again on a new snapshot (r)."
          : "Stored since these rows were fixed. Load them with a new snapshot (r)."
      }
      onClick={onClick}
    >
      {text}
    </Button>
  );
}
