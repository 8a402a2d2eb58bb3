/** What is typed for a new token, what is wrong with it, and the request that it makes. */
import type { CreateTokenRequest, Scope } from "#/api/oriel.gen.ts";
import type { ApiError } from "#/lib/http.ts";
import { dayStart, fullDay, nextDay, readBound } from "#/lib/time.ts";
import { isScope } from "./scopes.ts";

export const expiries = ["30d", "90d", "365d", "date", "never"] as const;
export type Expiry = (typeof expiries)[number];

export interface TokenDraft {
  readonly displayName: string;
  readonly scopes: readonly Scope[];
  /** One source prefix a line. */
  readonly sources: string;
  readonly expiry: Expiry;
  /** The last day, `2027-02-28`, where the expiry is a date. */
  readonly date: string;
  readonly reason: string;
}

export const emptyDraft: TokenDraft = {
  displayName: "",
  scopes: [],
  sources: "",
  expiry: "90d",
  date: "",
  reason: "",
};

/** A draft as it was stored; undefined for anything else. */
export function readTokenDraft(stored: unknown): TokenDraft | undefined {
  if (typeof stored !== "object" || stored === null) return undefined;
  const raw = stored as Readonly<Record<keyof TokenDraft, unknown>>;
  const expiry = expiries.find((one) => one === raw.expiry);
  const { displayName, sources, date, reason } = raw;
  if (expiry === undefined || !Array.isArray(raw.scopes)) return undefined;
  if (typeof displayName !== "string" || typeof sources !== "string") return undefined;
  if (typeof date !== "string" || typeof reason !== "string") return undefined;
  return { displayName, scopes: raw.scopes.filter(isScope), sources, expiry, date, reason };
}

/** The fields of the form by the names that the API has for them. */
const fields = ["displayName", "scopes", "sourcePrefixes", "expireTime", "reason"] as const;
export type TokenField = (typeof fields)[number];
export type Faults = Readonly<Partial<Record<TokenField, string>>>;

const limits = { displayName: 100, reason: 500, sources: 50, source: 1024 } as const;
const days: Readonly<Partial<Record<Expiry, number>>> = { "30d": 30, "90d": 90, "365d": 365 };

/** The lines that are not blank, each once. */
export function prefixesOf(draft: Pick<TokenDraft, "sources">): string[] {
  return [...new Set(draft.sources.split("\n").map((line) => line.trim()))].filter((line) => line !== "");
}

type Expire = { readonly value: string | undefined } | { readonly error: string };

/** When it ends: undefined is never. A chosen day is the last one that it holds on, in the zone. */
export function expireTimeOf(draft: TokenDraft, zone: string, now: number): Expire {
  if (draft.expiry === "never") return { value: undefined };
  const n = days[draft.expiry];
  if (n !== undefined) return { value: new Date(now + n * 86_400_000).toISOString() };
  const accepted = `a day from ${fullDay(new Date(now).toISOString(), zone)} on`;
  if (!/^\d{4}-\d{2}-\d{2}$/.test(draft.date)) return { error: `Choose ${accepted}.` };
  const day = readBound(draft.date, zone, now);
  if ("error" in day) return { error: day.error };
  if (Date.parse(day.value) < dayStart(new Date(now).toISOString(), zone)) {
    return { error: `This day is over. Accepted: ${accepted}.` };
  }
  const end = readBound(nextDay(draft.date), zone, now);
  // Its last second, so that every place that names a day names this one.
  return "error" in end
    ? { error: end.error }
    : { value: new Date(Date.parse(end.value) - 1000).toISOString() };
}

function tooLong(text: string, limit: number): string | undefined {
  const length = [...text].length;
  return length > limit ? `It has ${length} characters; at most ${limit} are accepted.` : undefined;
}

/** Everything that is wrong, at once. */
export function faultsOf(draft: TokenDraft, zone: string, now: number): Faults {
  const prefixes = prefixesOf(draft);
  const expire = expireTimeOf(draft, zone, now);
  const found: Partial<Record<TokenField, string | undefined>> = {
    displayName:
      draft.displayName.trim() === ""
        ? "A name is missing: it tells the token apart, such as valve-controller."
        : tooLong(draft.displayName.trim(), limits.displayName),
    scopes:
      draft.scopes.length === 0 ? "Choose at least one: a token without any may do nothing." : undefined,
    sourcePrefixes: writes(draft) ? sourceFault(prefixes) : undefined,
    expireTime: "error" in expire ? expire.error : undefined,
    reason:
      draft.reason.trim() === ""
        ? "A reason is missing: the audit record keeps it."
        : tooLong(draft.reason.trim(), limits.reason),
  };
  return onlySet(found);
}

function onlySet(faults: Partial<Record<TokenField, string | undefined>>): Faults {
  const set: Partial<Record<TokenField, string>> = {};
  for (const field of fields) {
    const fault = faults[field];
    if (fault !== undefined) set[field] = fault;
  }
  return set;
}

function sourceFault(prefixes: readonly string[]): string | undefined {
  if (prefixes.length > limits.sources) {
    return `There are ${prefixes.length}; at most ${limits.sources} are accepted.`;
  }
  const bytes = (prefix: string) => new TextEncoder().encode(prefix).length;
  const long = prefixes.find((prefix) => bytes(prefix) > limits.source);
  if (long === undefined) return undefined;
  return `“${long.slice(0, 40)}…” has ${bytes(long)} bytes; at most ${limits.source} are accepted.`;
}

/** Prefixes are only for a token that publishes. */
export function writes(draft: Pick<TokenDraft, "scopes">): boolean {
  return draft.scopes.includes("events:write");
}

/** The request of a draft without faults. */
export function requestOf(draft: TokenDraft, zone: string, now: number): CreateTokenRequest {
  const expire = expireTimeOf(draft, zone, now);
  const prefixes = writes(draft) ? prefixesOf(draft) : [];
  return {
    displayName: draft.displayName.trim(),
    scopes: [...draft.scopes],
    ...(prefixes.length > 0 && { sourcePrefixes: prefixes }),
    ...("value" in expire && expire.value !== undefined && { expireTime: expire.value }),
    reason: draft.reason.trim(),
  };
}

/** Which of an error's violations belong to a field, and those that belong to none. */
export function faultsFrom(error: ApiError): { faults: Faults; rest: readonly string[] } {
  const faults: Partial<Record<TokenField, string>> = {};
  const rest: string[] = [];
  for (const { metadata, message } of error.details) {
    const field = fieldOf(metadata.attribute ?? "");
    const text = message || error.message;
    if (field === undefined) rest.push(text);
    else faults[field] = faults[field] === undefined ? text : `${faults[field]} ${text}`;
  }
  return { faults, rest };
}

/** `sourcePrefixes[2]`, `sourcePrefixes.2` and `/sourcePrefixes/2` all lie in one field. */
function fieldOf(attribute: string): TokenField | undefined {
  const first = attribute.replace(/^(body)?[./]+/, "").split(/[.[/]/)[0];
  return fields.find((field) => field === first);
}
