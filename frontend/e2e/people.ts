// Signing in as one of the demo's people, as everybody does: at the demo's own identity provider.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import { common } from "./browser.ts";

export const roles = ["analyst", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

interface Demo {
  readonly url: string;
  readonly users: readonly { readonly username: string; readonly roles: readonly string[] }[];
}

function usernameOf(demo: Demo, role: Role): string {
  const user = demo.users.find(({ roles: held }) => held.includes(role));
  if (!user) throw new Error(`demo.json has no ${role}`);
  return user.username;
}

/** Presses the person's button on the provider's page. */
export async function pressPerson(page: Page, demo: Demo, role: Role): Promise<void> {
  await page.getByRole("button", { name: usernameOf(demo, role) }).click();
}

/** Signs in and lands on a path of the app. */
export async function signIn(page: Page, demo: Demo, role: Role, path = "/explore"): Promise<void> {
  await page.goto(`${demo.url}/auth/sign-in?return=${encodeURIComponent(path)}`);
  await pressPerson(page, demo, role);
  await page.waitForURL(demo.url + path);
}

/** Signs each of them in once; the files that it returns the folder of are what a browser then has. */
export async function signInAll(path: string): Promise<{ folder: string; remove: () => void }> {
  const demo = JSON.parse(readFileSync(path, "utf8")) as Demo;
  const folder = mkdtempSync(join(tmpdir(), "oriel-e2e-people-"));
  const browser = await chromium.launch(common.use?.launchOptions);
  try {
    for (const role of roles) {
      const context: BrowserContext = await browser.newContext();
      await signIn(await context.newPage(), demo, role);
      await context.storageState({ path: stateFile(folder, role) });
      await context.close();
    }
  } finally {
    await browser.close();
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export function stateFile(folder: string, role: Role): string {
  return join(folder, `${role}.json`);
}
