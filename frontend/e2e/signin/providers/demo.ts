// The demo's own identity provider, which the program brings along. Its people are those of demo.json, which
// it reads each time it needs one.
import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { email, type Person, type Role, staff } from "./people.ts";
import { clientCredentials, type Provider } from "./provider.ts";

interface User {
  readonly username: string;
  readonly password: string;
  readonly name: string;
  readonly email: string;
  readonly roles: readonly string[];
}

interface Demo {
  readonly users: readonly User[];
  readonly machine: { readonly clientId: string; readonly clientSecret: string; readonly tokenUrl: string };
}

/** The provider of the program whose demo.json this is, with two more people than it comes with. */
export function demoProvider(path: string): Provider {
  const read = () => JSON.parse(readFileSync(path, "utf8")) as Demo;
  const write = (demo: Demo) => {
    const draft = `${path}.${randomUUID()}`;
    writeFileSync(draft, JSON.stringify(demo, null, 2), { mode: 0o600 });
    renameSync(draft, path);
  };
  const own = (role: Role): Person => {
    const user = read().users.find(({ roles }) => roles.includes(role));
    if (!user) throw new Error(`demo.json has no ${role}`);
    return { ...user, role };
  };
  const { nobody, leaver } = staff;
  const people = { analyst: own("analyst"), operator: own("operator"), admin: own("admin"), nobody, leaver };
  const demo = read();
  const more = [nobody, leaver].map((person: Person) => ({
    username: person.username,
    password: person.password,
    name: person.name,
    email: email(person),
    roles: person.role ? [person.role] : [],
  }));
  write({ ...demo, users: [...demo.users, ...more] });
  return {
    variables: {},
    people,
    async signIn(page, person) {
      await page.getByLabel("Username", { exact: true }).fill(person.username);
      await page.getByLabel("Password", { exact: true }).fill(person.password);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
    },
    async goOn() {},
    async confirmSignOut() {},
    async takeRole({ username }) {
      const now = read();
      const users = now.users.map((user) => (user.username === username ? { ...user, roles: [] } : user));
      write({ ...now, users });
    },
    machineToken() {
      const { clientId: id, clientSecret: secret, tokenUrl } = read().machine;
      return clientCredentials(tokenUrl, { scope: "events:write" }, { id, secret });
    },
    async stop() {},
  };
}
