/** What the Audit page shows, as its URL says it. The filter's parameters are the API's own. */
import type { AuditOutcome, ExportAuditEntriesParams } from "#/api/oriel.gen.ts";
import type { Params } from "#/lib/search.ts";

export const outcomes: readonly AuditOutcome[] = ["done", "refused", "failed", "unknown"];

/** Fields of which any of several values may hold; a final `*` makes one a beginning. */
export const auditFields = ["actor", "action", "target"] as const;
export type AuditField = (typeof auditFields)[number];

export interface AuditView {
  readonly actor: readonly string[];
  readonly action: readonly string[];
  readonly target: readonly string[];
  /** Any of these; none is all. */
  readonly outcomes: readonly AuditOutcome[];
  /** RFC 3339 or relative, as written; undefined is open. */
  readonly from: string | undefined;
  readonly until: string | undefined;
  readonly query: string;
  /** The entry that is unfolded, by its operation. */
  readonly entry: string | undefined;
}

const valuesOf = (values: readonly string[] | undefined) => [
  ...new Set(values?.filter((value) => value !== "")),
];

export function readAuditView(params: Params): AuditView {
  return {
    actor: valuesOf(params.actor),
    action: valuesOf(params.action),
    target: valuesOf(params.target),
    outcomes: outcomes.filter((outcome) => params.outcome?.includes(outcome)),
    from: params.from?.[0] || undefined,
    until: params.until?.[0] || undefined,
    query: params.q?.[0] ?? "",
    entry: params.entry?.[0] || undefined,
  };
}

export function writeAuditView(view: AuditView, zone: readonly string[] | undefined): Params {
  return {
    ...(view.query !== "" && { q: [view.query] }),
    ...Object.fromEntries(
      auditFields.filter((field) => view[field].length > 0).map((field) => [field, view[field]]),
    ),
    ...(view.outcomes.length > 0 && { outcome: view.outcomes }),
    ...(view.from && { from: [view.from] }),
    ...(view.until && { until: [view.until] }),
    ...(zone && { zone }),
    ...(view.entry && { entry: [view.entry] }),
  };
}

/** The filter as the API takes it, for the list and the export alike. */
export function auditParams(view: AuditView): ExportAuditEntriesParams {
  const q = view.query.trim();
  return {
    ...(view.actor.length > 0 && { actor: [...view.actor] }),
    ...(view.action.length > 0 && { action: [...view.action] }),
    ...(view.target.length > 0 && { target: [...view.target] }),
    ...(view.outcomes.length > 0 && { outcome: [...view.outcomes] }),
    ...(view.from && { from: view.from }),
    ...(view.until && { until: view.until }),
    ...(q !== "" && { q }),
  };
}

export function isFiltered(view: AuditView): boolean {
  return Object.keys(auditParams(view)).length > 0;
}

/** A view without any filter. */
export const wholeRecord: AuditView = {
  actor: [],
  action: [],
  target: [],
  outcomes: [],
  from: undefined,
  until: undefined,
  query: "",
  entry: undefined,
};

/** The operation in an entry's name. */
export function operationOf(name: string): string {
  return name.replace(/^auditEntries\//, "");
}
