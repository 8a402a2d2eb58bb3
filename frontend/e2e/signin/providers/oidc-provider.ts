// npm's oidc-provider with accounts and the least of pages. Its access tokens of people are opaque and
// its ID tokens say nothing of roles: they are in userinfo alone. It gives a refresh token only to who
// asks for offline_access with prompt=consent.
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Page } from "@playwright/test";
import OidcProvider from "oidc-provider";
import { createMemoryAdapter } from "oidc-provider/lib/adapters/memory_adapter.js";
import { freePort } from "../../program.ts";
import { Door } from "./door.ts";
import { email, type Person, staff } from "./people.ts";
import { type Addresses, audience, client, clientCredentials, machine, type Provider } from "./provider.ts";

const resources = { program: "urn:resource:program", another: "urn:resource:another" } as const;

export async function startOidcProvider(addresses: Addresses): Promise<Provider> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const roles = new Map<string, string>(
    Object.values<Person>(staff).flatMap(({ username, role }) => (role ? [[username, role]] : [])),
  );
  // What it remembers stays when its keys change.
  const adapter = createMemoryAdapter();
  const make = () => new OidcProvider(issuer, configuration(addresses, roles, adapter));
  let provider = make();
  const server = createServer((request, response) => {
    const answer: RequestListener = request.url?.startsWith("/interaction/")
      ? (req, res) => interact(provider, req, res)
      : provider.callback();
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const door = await Door.to(address.port, port);
  return {
    variables: {
      ORIEL_OIDC_ISSUER: issuer,
      ORIEL_OIDC_CLIENT_ID: client.id,
      ORIEL_OIDC_CLIENT_SECRET: client.secret,
      ORIEL_OIDC_SCOPES: "openid,profile,email,roles,offline_access",
      ORIEL_OIDC_AUDIENCE: audience,
    },
    people: staff,
    async signIn(page, person) {
      await page.getByLabel("Username").fill(person.username);
      await page.getByLabel("Password").fill(person.password);
      await page.getByRole("button", { name: "Sign in" }).click();
      await allow(page);
    },
    goOn: allow,
    async confirmSignOut(page) {
      await page.getByRole("button", { name: "Sign out" }).click();
    },
    async takeRole({ username }) {
      roles.delete(username);
    },
    async rotateKeys() {
      provider = make();
    },
    machineToken: () => machineToken(issuer, resources.program),
    strangersToken: () => machineToken(issuer, resources.another),
    door,
    async stop() {
      await door.shut();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function machineToken(issuer: string, resource: string): Promise<string> {
  return clientCredentials(`${issuer}/token`, { scope: "events:write", resource });
}

function configuration(addresses: Addresses, roles: ReadonlyMap<string, string>, adapter: unknown): object {
  return {
    adapter,
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        grant_types: ["authorization_code", "refresh_token"],
        redirect_uris: [addresses.callback],
        post_logout_redirect_uris: [addresses.signedOut],
      },
      {
        client_id: machine.id,
        client_secret: machine.secret,
        grant_types: ["client_credentials"],
        response_types: [],
        redirect_uris: [],
      },
    ],
    jwks: { keys: [newKey()] },
    cookies: { keys: [randomUUID()] },
    claims: { openid: ["sub"], profile: ["name"], email: ["email"], roles: ["roles"] },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    // Longer than any test.
    ttl: {
      AccessToken: 600,
      ClientCredentials: 600,
      Grant: 3600,
      IdToken: 600,
      Interaction: 600,
      RefreshToken: 3600,
      Session: 3600,
    },
    findAccount: (_: unknown, id: string) => account(id, roles),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource(ctx: { body: string }, form: string) {
          ctx.body = document(
            "Sign out?",
            `${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`,
          );
        },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: "events:write",
          audience: resource === resources.program ? audience : "somebody-else",
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  };
}

function newKey(): object {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "RS256" };
}

function account(id: string, roles: ReadonlyMap<string, string>): object | undefined {
  const person = byName(id);
  if (!person) return undefined;
  const role = roles.get(id);
  return {
    accountId: id,
    claims: () => ({ sub: id, name: person.name, email: email(person), ...(role && { roles: [role] }) }),
  };
}

function byName(username: string): Person | undefined {
  return Object.values<Person>(staff).find((person) => person.username === username);
}

/** Asked every time, as the program asks for consent. */
async function allow(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Allow" }).click();
}

/** The pages between: who are you, and may the program know. */
async function interact(provider: OidcProvider, request: IncomingMessage, response: ServerResponse) {
  try {
    const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    if (request.method !== "POST") {
      response.setHeader("content-type", "text/html; charset=utf-8");
      response.end(prompt.name === "login" ? loginPage : consentPage);
      return;
    }
    if (prompt.name === "login") {
      const form = new URLSearchParams(await text(request));
      const person = byName(form.get("username") ?? "");
      if (person?.password !== form.get("password")) throw new Error("no such person, or another password");
      await provider.interactionFinished(request, response, { login: { accountId: person?.username } });
      return;
    }
    const grant =
      (grantId && (await provider.Grant.find(grantId))) ||
      new provider.Grant({ accountId: session?.accountId ?? "", clientId: params.client_id });
    grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(" "));
    grant.addOIDCClaims(prompt.details.missingOIDCClaims ?? []);
    const result = { consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
  } catch (error) {
    response.statusCode = 400;
    response.end(String(error));
  }
}

const loginPage = document(
  "Sign in",
  `<form method="post"><label>Username <input name="username"></label>
  <label>Password <input name="password" type="password"></label><button>Sign in</button></form>`,
);

const consentPage = document("Allow?", '<form method="post"><button>Allow</button></form>');

function document(title: string, body: string): string {
  return `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${body}</html>`;
}
