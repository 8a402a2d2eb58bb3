// Keycloak as it comes out of its box, with one realm. Its clients have no mappers of roles: what a person
// may do is only in the access token, at realm_access.roles.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  cpSync,
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../program.ts";
import { Door } from "./door.ts";
import { email, type Person, staff } from "./people.ts";
import {
  type Addresses,
  answered,
  audience,
  client,
  clientCredentials,
  machine,
  type Provider,
} from "./provider.ts";

const fetchLimit = 600_000;
// Its first start builds itself, for over a minute on a small machine.
const startLimit = 300_000;
const stopLimit = 30_000;
const administrator = { username: "root", password: "root's password" } as const;
const stranger = { id: "stranger", secret: "the-secret-of-the-stranger" } as const;

export async function startKeycloak(addresses: Addresses): Promise<Provider> {
  const script = fileURLToPath(new URL("../../../../.ci/keycloak", import.meta.url));
  const { stdout } = await promisify(execFile)(script, { timeout: fetchLimit });
  const folder = mkdtempSync(join(tmpdir(), "oriel-keycloak-"));
  const [port, inner] = [await freePort(), await freePort()];
  const door = await Door.to(inner, port);
  // It writes beside its programs, so it gets a copy.
  cpSync(stdout.trim(), folder, { recursive: true });
  mkdirSync(join(folder, "data", "import"), { recursive: true });
  writeFileSync(join(folder, "data", "import", "oriel.json"), JSON.stringify(realm(addresses)));
  const log = join(folder, "keycloak.log");
  const child = start(folder, log, port, inner);
  const stop = async () => {
    await door.shut();
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  const issuer = `http://127.0.0.1:${port}/realms/oriel`;
  const admin = new Admin(`http://127.0.0.1:${inner}`);
  try {
    await ready(child, issuer);
    await admin.allowWriting(machine.id);
    await admin.allowWriting(stranger.id);
  } catch (error) {
    const tail = readFileSync(log, "utf8").split("\n").slice(-30).join("\n");
    await stop();
    throw new Error(`Keycloak did not start: ${String(error)}\n${tail}`);
  }
  return {
    variables: {
      ORIEL_OIDC_ISSUER: issuer,
      ORIEL_OIDC_CLIENT_ID: client.id,
      ORIEL_OIDC_CLIENT_SECRET: client.secret,
      ORIEL_OIDC_ROLE_CLAIM: "realm_access.roles",
      ORIEL_OIDC_AUDIENCE: audience,
    },
    people: staff,
    async signIn(page, person) {
      await page.getByLabel("Username or email").fill(person.username);
      await page.getByRole("textbox", { name: "Password" }).fill(person.password);
      await page.getByRole("button", { name: "Sign In" }).click();
    },
    // With our hint of who signs out, it asks nothing.
    async goOn() {},
    async confirmSignOut() {},
    takeRole: (person) => admin.takeRole(person),
    rotateKeys: () => admin.rotateKeys(),
    machineToken: () => clientCredentials(`${issuer}/protocol/openid-connect/token`, {}),
    strangersToken: () => clientCredentials(`${issuer}/protocol/openid-connect/token`, {}, stranger),
    door,
    stop,
  };
}

function realm({ callback, signedOut }: Addresses): object {
  const service = { standardFlowEnabled: false, serviceAccountsEnabled: true };
  return {
    realm: "oriel",
    enabled: true,
    roles: { realm: [{ name: "analyst" }, { name: "operator" }, { name: "admin" }] },
    users: Object.values<Person>(staff).map((person) => ({
      username: person.username,
      enabled: true,
      firstName: person.name.split(" ")[0],
      lastName: person.name.split(" ")[1],
      email: email(person),
      emailVerified: true,
      credentials: [{ type: "password", value: person.password }],
      realmRoles: person.role ? [person.role] : [],
    })),
    clients: [
      {
        clientId: client.id,
        secret: client.secret,
        redirectUris: [callback],
        attributes: { "post.logout.redirect.uris": signedOut },
      },
      {
        clientId: machine.id,
        secret: machine.secret,
        ...service,
        protocolMappers: [
          {
            name: "audience",
            protocol: "openid-connect",
            protocolMapper: "oidc-audience-mapper",
            config: { "included.custom.audience": audience, "access.token.claim": "true" },
          },
        ],
      },
      { clientId: stranger.id, secret: stranger.secret, ...service },
    ],
  };
}

function start(folder: string, log: string, port: number, inner: number): ChildProcess {
  const child = spawn(
    join(folder, "bin", "kc.sh"),
    [
      "start-dev",
      "--import-realm",
      "--http-host=127.0.0.1",
      `--http-port=${inner}`,
      `--hostname=http://127.0.0.1:${port}`,
    ],
    {
      env: {
        ...process.env,
        KC_BOOTSTRAP_ADMIN_USERNAME: administrator.username,
        KC_BOOTSTRAP_ADMIN_PASSWORD: administrator.password,
        JAVA_OPTS_KC_HEAP: "-Xms64m -Xmx512m",
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  // The script has become Java by then.
  process.once("exit", () => child.kill("SIGKILL"));
  const sink = createWriteStream(log);
  child.stdout?.pipe(sink, { end: false });
  child.stderr?.pipe(sink, { end: false });
  child.once("close", () => sink.end());
  return child;
}

async function ready(child: ChildProcess, issuer: string): Promise<void> {
  const until = Date.now() + startLimit;
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
    const answer = await fetch(`${issuer}/.well-known/openid-configuration`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  throw new Error(`not ready within ${startLimit / 1000} s`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), stopLimit);
  await ended;
  clearTimeout(late);
}

/** What an administrator of Keycloak does by hand. */
class Admin {
  private readonly base: string;

  constructor(base: string) {
    this.base = base;
  }

  async takeRole(person: Person): Promise<void> {
    const user = await this.first<{ id: string }>(`/users?exact=true&username=${person.username}`);
    const role = await this.get<object>(`/roles/${person.role}`);
    await this.call("DELETE", `/users/${user.id}/role-mappings/realm`, [role]);
  }

  /** Makes a key that comes before all others, and drops those. */
  async rotateKeys(): Promise<void> {
    const provider = "org.keycloak.keys.KeyProvider";
    const before = await this.get<{ id: string; providerId: string }[]>(`/components?type=${provider}`);
    await this.call("POST", "/components", {
      name: `rsa-${Date.now()}`,
      providerId: "rsa-generated",
      providerType: provider,
      config: { priority: ["200"], algorithm: ["RS256"] },
    });
    for (const { id, providerId } of before) {
      if (providerId === "rsa-generated") await this.call("DELETE", `/components/${id}`);
    }
  }

  /** Lets a machine's tokens name the scope that writes events. */
  async allowWriting(id: string): Promise<void> {
    const name = "events:write";
    const known = async () =>
      (await this.get<{ id: string; name: string }[]>("/client-scopes")).find((scope) => scope.name === name);
    if (!(await known())) {
      const attributes = { "include.in.token.scope": "true" };
      await this.call("POST", "/client-scopes", { name, protocol: "openid-connect", attributes });
    }
    const { id: owner } = await this.first<{ id: string }>(`/clients?clientId=${id}`);
    await this.call("PUT", `/clients/${owner}/default-client-scopes/${(await known())?.id}`);
  }

  private async first<T>(path: string): Promise<T> {
    const [found] = await this.get<T[]>(path);
    if (found === undefined) throw new Error(`nothing at ${path}`);
    return found;
  }

  private async get<T>(path: string): Promise<T> {
    return (await (await this.call("GET", path)).json()) as T;
  }

  private async call(method: string, path: string, body?: unknown): Promise<Response> {
    return answered(
      await fetch(`${this.base}/admin/realms/oriel${path}`, {
        method,
        headers: { authorization: `Bearer ${await this.token()}`, "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
      }),
    );
  }

  /** Asked for each call: it lasts for a minute. */
  private async token(): Promise<string> {
    const answer = await answered(
      await fetch(`${this.base}/realms/master/protocol/openid-connect/token`, {
        method: "POST",
        body: new URLSearchParams({ client_id: "admin-cli", grant_type: "password", ...administrator }),
      }),
    );
    return ((await answer.json()) as { access_token: string }).access_token;
  }
}
