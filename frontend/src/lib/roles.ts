/** What a caller may do here, in the words that a page says it with. */
import type { Role, Scope, Session } from "#/api/oriel.gen.ts";

/** The lowest role that has a scope. Nobody writes events by hand. */
const roles: Readonly<Partial<Record<Scope, Role>>> = {
  "events:read": "analyst",
  operate: "operator",
  "admin:read": "admin",
  "admin:write": "admin",
};

export type Who = Pick<Session, "kind" | "roles" | "scopes">;

/** The highest role of a person; undefined where none was given. */
export function roleOf(who: Who): Role | undefined {
  return who.roles.at(-1);
}

export function mayDo(who: Who, scope: Scope): boolean {
  return who.scopes.includes(scope);
}

/** What is needed for a scope: the role of a person, the scope itself of a program. */
export function needed(who: Who, scope: Scope): string {
  const role = roles[scope];
  return who.kind === "person" && role ? `the ${role} role` : `the scope ${scope}`;
}

/** `You are analyst.` */
function standing(who: Who): string {
  if (who.kind === "person") return `You are ${roleOf(who) ?? "without a role"}.`;
  return `This token has ${who.scopes.length === 0 ? "none" : who.scopes.join(", ")}.`;
}

/** Why a caller may not do what a scope is for: `Needs the admin role. You are analyst.` */
export function lackOf(who: Who, scope: Scope): string | undefined {
  return mayDo(who, scope) ? undefined : `Needs ${needed(who, scope)}. ${standing(who)}`;
}
