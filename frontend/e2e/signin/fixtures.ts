import { type BrowserContext, test as base, type CDPSession, expect, type Page } from "@playwright/test";
import type { Person } from "./providers/people.ts";
import { type Kind, type Stack, startStack } from "./stack.ts";

interface Worker {
  readonly kind: Kind;
  readonly stack: Stack;
}

/** Every worker has a provider and a program of its own: tests change what these know. */
export const test = base.extend<{ faults: string[] }, Worker>({
  kind: ["demo", { option: true, scope: "worker" }],
  stack: [
    async ({ kind }, use) => {
      const stack = await startStack(kind);
      await use(stack);
      await stack.stop();
    },
    // The first start of Keycloak takes minutes on a small machine.
    { scope: "worker", timeout: 900_000 },
  ],
  baseURL: async ({ stack }, use) => use(stack.url),
  // A step of the way that a policy stops, or an error that nobody caught, fails its test.
  faults: [
    async ({ context }, use) => {
      const faults: string[] = [];
      context.on("weberror", (error) => faults.push(String(error.error())));
      context.on("console", (message) => {
        if (/content security policy|trusted type/i.test(message.text())) faults.push(message.text());
      });
      await use(faults);
      expect(faults).toEqual([]);
    },
    { auto: true },
  ],
});

/** Signs in and comes back to a path of the program. */
export async function signIn(page: Page, stack: Stack, person: Person, back = "/explore"): Promise<void> {
  await page.goto(signInPath(stack, back));
  await stack.provider.signIn(page, person);
  await page.waitForURL((url) => url.href.startsWith(stack.url + back));
}

function signInPath(stack: Stack, back: string): string {
  return `${stack.url}/auth/sign-in?return=${encodeURIComponent(back)}`;
}

/** Begins a sign-in in the browser and tells where it would be sent. */
export async function begin(context: BrowserContext, stack: Stack, back = "/explore"): Promise<URL> {
  const answer = await context.request.get(signInPath(stack, back), { maxRedirects: 0 });
  expect(answer.status()).toBe(302);
  return new URL(answer.headers().location ?? "");
}

/** Does what makes the provider send the browser back, and tells where to: the browser does not go there. */
export async function heldBack(page: Page, act: () => Promise<void>): Promise<URL> {
  const devtools: CDPSession = await page.context().newCDPSession(page);
  const back = new Promise<string>((resolve, reject) => {
    devtools.once("Fetch.requestPaused", ({ requestId, request }) => {
      devtools
        .send("Fetch.failRequest", { requestId, errorReason: "Aborted" })
        .then(() => resolve(request.url), reject);
    });
  });
  await devtools.send("Fetch.enable", { patterns: [{ urlPattern: "*/auth/callback?*" }] });
  await act();
  const url = await back;
  await devtools.detach();
  return new URL(url);
}

export interface Seen {
  readonly name: string;
  readonly kind: string;
  readonly roles: readonly string[];
}

/** Who the program says that the browser is; a number is the status of its refusal. */
export async function whoIs(context: BrowserContext, stack: Stack): Promise<Seen | number> {
  const answer = await context.request.get(`${stack.url}/v1/session`);
  return answer.ok() ? ((await answer.json()) as Seen) : answer.status();
}

/** The roles that the program says the browser has. */
export async function rolesOf(context: BrowserContext, stack: Stack): Promise<readonly string[] | number> {
  const seen = await whoIs(context, stack);
  return typeof seen === "number" ? seen : seen.roles;
}

/** Chooses a way out in the menu of the one who is signed in. */
export async function leave(page: Page, way: "Sign out" | "Sign out everywhere"): Promise<void> {
  await page.getByRole("button", { name: /^Account: / }).click();
  await page.getByRole("menuitem", { name: way, exact: true }).click();
}

/** The page that a sign-in which failed ends on, with its reason. Returns the request's id. */
export async function refused(page: Page, stack: Stack, reason: string): Promise<string> {
  await expect(page).toHaveURL(
    (url) => url.href.startsWith(`${stack.url}/sign-in?`) && url.searchParams.get("error") === reason,
  );
  const alert = page.getByRole("alert");
  await expect(alert).toContainText(reason);
  const request = new URL(page.url()).searchParams.get("request") ?? "";
  expect(request).toMatch(/^req_/);
  await expect(alert).toContainText(`request ${request}`);
  return request;
}

interface Entry {
  readonly action: string;
  readonly outcome: string;
  readonly actor: string;
  readonly target: string;
  readonly detail: string;
  readonly requestId: string;
  readonly before?: object;
  readonly after?: object;
}

/** What the record says of an action, newest first. */
export async function recorded(stack: Stack, action: string): Promise<readonly Entry[]> {
  const answer = await fetch(`${stack.url}/v1/auditEntries?action=${action}`, {
    headers: { authorization: `Bearer ${stack.operatorToken}` },
  });
  expect(answer.status, await answer.clone().text()).toBe(200);
  return ((await answer.json()) as { entries: Entry[] }).entries;
}

/** The program's cookies in the browser. */
export async function cookiesOf(context: BrowserContext, stack: Stack) {
  const name = /^(__Host-|__Secure-)?oriel(_\d+)?(-sign-in)?$/;
  return (await context.cookies(stack.url)).filter((cookie) => name.test(cookie.name));
}

export { expect };
