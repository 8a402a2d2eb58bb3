import type { Scope } from "#/api/oriel.gen.ts";

/** What each scope of a token is for, in the order in which they are offered. */
export const scopes: readonly { scope: Scope; does: string; powerful: boolean }[] = [
  { scope: "events:write", does: "Publish events.", powerful: false },
  { scope: "events:read", does: "Search events and read their data.", powerful: false },
  {
    scope: "operate",
    does: "Act on consumers and dead letters: pause, replay, move offsets.",
    powerful: true,
  },
  { scope: "admin:read", does: "See tokens and the audit record.", powerful: true },
  {
    scope: "admin:write",
    does: "Make and revoke tokens, also ones that may do more than this one.",
    powerful: true,
  },
];

export function isScope(text: unknown): text is Scope {
  return scopes.some(({ scope }) => scope === text);
}

export function isPowerful(scope: Scope): boolean {
  return scopes.some((entry) => entry.scope === scope && entry.powerful);
}
