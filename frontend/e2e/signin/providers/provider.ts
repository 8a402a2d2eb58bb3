import type { Page } from "@playwright/test";
import type { Door } from "./door.ts";
import type { People, Person } from "./people.ts";

/** The program's own addresses, which a provider must know. */
export interface Addresses {
  readonly callback: string;
  readonly signedOut: string;
}

/** One identity provider as the tests see it. What it cannot do is absent. */
export interface Provider {
  /** What the program is told of it. */
  readonly variables: Readonly<Record<string, string>>;
  readonly people: People;
  /** Signs in on the provider's own pages, where the browser is now. */
  signIn(page: Page, person: Person): Promise<void>;
  /** What the provider asks one who is still signed in there. */
  goOn(page: Page): Promise<void>;
  /** Answers the provider's question whether to sign out, where it asks one. */
  confirmSignOut(page: Page): Promise<void>;
  /** Takes the person's role away. */
  takeRole(person: Person): Promise<void>;
  /** From now on it signs with another key, and no longer lists the one before. */
  readonly rotateKeys?: () => Promise<void>;
  /** A machine's access token that may write events here. */
  machineToken(): Promise<string>;
  /** One that may write events somewhere else. */
  readonly strangersToken?: () => Promise<string>;
  /** The way to it. */
  readonly door?: Door;
  stop(): Promise<void>;
}

/** What the tests call the program at every provider that they set up. */
export const client = { id: "oriel", secret: "the-secret-of-the-client" } as const;

/** A program of a producer that asks for tokens on its own behalf. */
export const machine = { id: "shipper", secret: "the-secret-of-the-machine" } as const;

/** aud of a machine's token. */
export const audience = "oriel-events";

/** What of an answer a test goes on with, or why there is none. */
export async function answered(answer: Response): Promise<Response> {
  if (answer.ok) return answer;
  throw new Error(`${answer.url} answered ${answer.status}: ${await answer.text()}`);
}

/** Asks a token endpoint for a machine's token. */
export async function clientCredentials(
  endpoint: string,
  parameters: Readonly<Record<string, string>>,
  as: { readonly id: string; readonly secret: string } = machine,
): Promise<string> {
  const answer = await answered(
    await fetch(endpoint, {
      method: "POST",
      headers: { authorization: `Basic ${btoa(`${as.id}:${as.secret}`)}` },
      body: new URLSearchParams({ grant_type: "client_credentials", ...parameters }),
    }),
  );
  return ((await answer.json()) as { access_token: string }).access_token;
}
