export type Role = "analyst" | "operator" | "admin";

export interface Person {
  readonly username: string;
  readonly password: string;
  readonly name: string;
  readonly role?: Role;
}

/** Those a test can sign in as. */
export interface People {
  readonly analyst: Person;
  readonly operator: Person;
  readonly admin: Person;
  /** Has no role. */
  readonly nobody: Person;
  /** An operator whose role is taken away. */
  readonly leaver: Person;
}

/** The people of the providers that tests set up. */
export const staff = {
  analyst: { username: "ada", password: "ada's password", name: "Ada Analyst", role: "analyst" },
  operator: { username: "otto", password: "otto's password", name: "Otto Operator", role: "operator" },
  admin: { username: "agnes", password: "agnes's password", name: "Agnes Admin", role: "admin" },
  nobody: { username: "nina", password: "nina's password", name: "Nina Nobody" },
  leaver: { username: "leo", password: "leo's password", name: "Leo Leaver", role: "operator" },
} as const satisfies People;

export function email(person: Person): string {
  return `${person.username}@example.com`;
}
