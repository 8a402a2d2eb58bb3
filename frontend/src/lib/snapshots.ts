/**
 * Snapshots that a page counted on, so that the search which proves a number has the same events: what was
 * stored since is in neither.
 */
import type { QueryClient } from "@tanstack/react-query";
import type { CreateSnapshotParams, Snapshot } from "#/api/oriel.gen.ts";

/** A snapshot, of which every number about a search is. */
export interface Taken {
  readonly snapshot: Snapshot;
  /** When this browser got it. */
  readonly takenAt: string;
}

const kind = "kept-snapshot";
/** So long one is handed on; servers keep them for an hour. */
const kept = 600_000;

type Bounds = Pick<CreateSnapshotParams, "from" | "until" | "arrivedFrom" | "arrivedUntil">;

function keyOf({ from, until, arrivedFrom, arrivedUntil }: Bounds) {
  return [kind, from ?? "", until ?? "", arrivedFrom ?? "", arrivedUntil ?? ""];
}

/** The snapshot is the one of searches within these bounds, until one is asked for anew. */
export function keepSnapshot(client: QueryClient, bounds: Bounds, taken: Taken): void {
  client.setQueryDefaults([kind], { gcTime: kept });
  client.setQueryData<Taken>(keyOf(bounds), taken);
}

export function keptSnapshot(client: QueryClient, bounds: Bounds): Taken | undefined {
  const taken = client.getQueryData<Taken>(keyOf(bounds));
  return taken && Date.now() - Date.parse(taken.takenAt) < kept ? taken : undefined;
}

/** From now on searches see what is stored now. */
export function forgetSnapshots(client: QueryClient): void {
  client.removeQueries({ queryKey: [kind] });
}
