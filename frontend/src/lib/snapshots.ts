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

/** Of searches within the same bounds, or of those of a part of them. */
type Kind = "same" | "whole";

const root = "kept-snapshot";
/** So long one is handed on; servers keep them for an hour. */
const kept = 600_000;

type Bounds = Pick<CreateSnapshotParams, "from" | "until" | "arrivedFrom" | "arrivedUntil">;

function keyOf(kind: Kind, { from, until, arrivedFrom, arrivedUntil }: Bounds) {
  return [root, kind, from ?? "", until ?? "", arrivedFrom ?? "", arrivedUntil ?? ""];
}

function keep(client: QueryClient, kind: Kind, bounds: Bounds, taken: Taken): void {
  client.setQueryDefaults([root], { gcTime: kept });
  client.setQueryData<Taken>(keyOf(kind, bounds), taken);
}

function read(client: QueryClient, kind: Kind, bounds: Bounds): Taken | undefined {
  const taken = client.getQueryData<Taken>(keyOf(kind, bounds));
  return taken && Date.now() - Date.parse(taken.takenAt) < kept ? taken : undefined;
}

/** The snapshot is the one of searches within these bounds, until one is asked for anew. */
export function keepSnapshot(client: QueryClient, bounds: Bounds, taken: Taken): void {
  keep(client, "same", bounds, taken);
}

export function keptSnapshot(client: QueryClient, bounds: Bounds): Taken | undefined {
  return read(client, "same", bounds);
}

/**
 * The search within these bounds is of a part of the snapshot, until one is asked for anew: what was counted
 * of it is what is found. Bounds that reach out of it are not.
 */
export function keepPart(client: QueryClient, bounds: Bounds, whole: Taken): void {
  const { snapshot } = whole;
  const [from, until] = [Date.parse(bounds.from ?? ""), Date.parse(bounds.until ?? "")];
  const end = snapshot.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(snapshot.until);
  if (from >= Date.parse(snapshot.from) && until <= end) keep(client, "whole", bounds, whole);
}

/** The snapshot of which one of these bounds is a part. */
export function wholeSnapshot(client: QueryClient, bounds: Bounds): Taken | undefined {
  return read(client, "whole", bounds);
}

/** From now on searches see what is stored now. */
export function forgetSnapshots(client: QueryClient): void {
  client.removeQueries({ queryKey: [root] });
}
