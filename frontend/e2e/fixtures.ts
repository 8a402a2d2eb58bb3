import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { test as base, expect, type Locator, type Page } from "@playwright/test";
import { type Role, stateFile } from "./people.ts";

interface Demo {
  readonly url: string;
  readonly producerToken: string;
  readonly readerToken: string;
  readonly operatorToken: string;
  readonly users: readonly { readonly username: string; readonly roles: readonly string[] }[];
}

export interface Sent {
  readonly id: string;
  readonly source: string;
  /** The path of the event's own page, with its time. */
  readonly path: string;
}

export interface Draft {
  readonly type?: string;
  readonly source?: string;
  readonly subject?: string;
  readonly time?: string;
  readonly contentType?: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly extensions?: Readonly<Record<string, string>>;
}

/** What a test sends and reads besides the browser. */
export class Api {
  private readonly demo: Demo;

  constructor(demo: Demo) {
    this.demo = demo;
  }

  /** Publishes one event in binary mode and waits until it can be read. */
  async send(draft: Draft = {}): Promise<Sent> {
    const {
      type = "test.event.v1",
      source = "/e2e",
      subject,
      time = now(),
      contentType = "application/json",
    } = draft;
    const id = randomUUID();
    const attributes = {
      specversion: "1.0",
      id,
      type,
      source,
      time,
      ...(subject !== undefined && { subject }),
      ...draft.extensions,
    };
    const headers: Record<string, string> = { authorization: `Bearer ${this.demo.producerToken}` };
    for (const [name, value] of Object.entries(attributes)) headers[`ce-${name}`] = encodeURIComponent(value);
    if (draft.body !== undefined) headers["content-type"] = contentType;
    const answer = await fetch(`${this.demo.url}/v1/events`, {
      method: "POST",
      headers,
      body: draft.body ?? null,
    });
    expect(answer.status, await answer.clone().text()).toBe(200);
    const { name } = (await answer.json()) as { name: string };
    await this.readable(name);
    return { id, source, path: `/${name}?time=${encodeURIComponent(time)}` };
  }

  /** Publishes many events of one source in batches, a millisecond apart. */
  async sendMany(count: number, source: string): Promise<void> {
    const start = Date.now() - count;
    const events = Array.from({ length: count }, (_, index) => ({
      specversion: "1.0",
      id: randomUUID(),
      type: "test.many.v1",
      source,
      time: new Date(start + index).toISOString(),
      data: { index },
    }));
    let last = "";
    for (let from = 0; from < count; from += 200) {
      const answer = await fetch(`${this.demo.url}/v1/events`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${this.demo.producerToken}`,
          "content-type": "application/cloudevents-batch+json",
        },
        body: JSON.stringify(events.slice(from, from + 200)),
      });
      expect(answer.status, await answer.clone().text()).toBe(200);
      const { results } = (await answer.json()) as { results: { event: { name: string } }[] };
      last = results.at(-1)?.event.name ?? "";
    }
    // One source is one partition, and a partition keeps its order.
    await this.readable(last);
  }

  /** How many events of the last day a filter finds, which must be a number that is exact. */
  async count(params: Readonly<Record<string, unknown>>): Promise<number> {
    const query = new URLSearchParams();
    for (const [name, values] of Object.entries(params)) {
      for (const value of [values ?? []].flat()) query.append(name, String(value));
    }
    const answer = await fetch(`${this.demo.url}/v1/events:count?${query}`, this.reading);
    expect(answer.status, await answer.clone().text()).toBe(200);
    const { value, relation } = (await answer.json()) as { value: number; relation: string };
    expect(relation).toBe("exact");
    return value;
  }

  private async readable(name: string): Promise<void> {
    await expect
      .poll(async () => (await fetch(`${this.demo.url}/v1/${name}`, this.reading)).status, {
        timeout: 30_000,
      })
      .toBe(200);
  }

  private get reading() {
    return { headers: { authorization: `Bearer ${this.demo.readerToken}` } };
  }
}

function now(): string {
  return new Date().toISOString();
}

export function readDemo(): Demo {
  const path = process.env.ORIEL_E2E_DEMO;
  if (!path) throw new Error("ORIEL_E2E_DEMO is not set: the global setup did not run");
  return JSON.parse(readFileSync(path, "utf8")) as Demo;
}

/** What the browser of someone who has signed in holds. */
function stateOf(role: Role): string {
  const folder = process.env.ORIEL_E2E_PEOPLE;
  if (!folder) throw new Error("ORIEL_E2E_PEOPLE is not set: the global setup did not run");
  return stateFile(folder, role);
}

interface Fixtures {
  /** Whose browser it is; with `nobody` no one has signed in. */
  readonly role: Role | "nobody";
  readonly api: Api;
  readonly faults: string[];
  /** A page of another person, in a browser of their own. */
  readonly pageOf: (role: Role | "nobody") => Promise<Page>;
}

/** A page that fails its test where the browser reports a policy violation or an uncaught error. */
export const test = base.extend<Fixtures>({
  role: ["analyst", { option: true }],
  baseURL: async ({}, use) => use(readDemo().url),
  storageState: async ({ role }, use) => use(role === "nobody" ? undefined : stateOf(role)),
  pageOf: async ({ browser, baseURL, viewport, faults }, use) => {
    const contexts: import("@playwright/test").BrowserContext[] = [];
    await use(async (role) => {
      const context = await browser.newContext({
        ...(baseURL && { baseURL }),
        viewport,
        storageState: role === "nobody" ? { cookies: [], origins: [] } : stateOf(role),
      });
      contexts.push(context);
      await watch(context, faults);
      return context.newPage();
    });
    for (const context of contexts) await context.close();
  },
  api: async ({}, use) => use(new Api(readDemo())),
  faults: [
    async ({ context }, use) => {
      const faults: string[] = [];
      await watch(context, faults);
      await use(faults);
      expect(faults).toEqual([]);
    },
    { auto: true },
  ],
});

async function watch(context: import("@playwright/test").BrowserContext, faults: string[]): Promise<void> {
  await context.exposeBinding("reportViolation", (_, what: string) => {
    faults.push(what);
  });
  await context.addInitScript(() => {
    const report = (window as unknown as { reportViolation: (what: string) => void }).reportViolation;
    document.addEventListener("securitypolicyviolation", (event) => {
      report(
        `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`,
      );
    });
  });
  context.on("weberror", (error) => faults.push(String(error.error())));
  context.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
}

/** The list's rows that hold events. */
export function rows(page: Page): Locator {
  return page.getByRole("grid", { name: "Events" }).locator("[data-index]");
}

/** Opens an event by a click on its time, where no value's actions can come up. */
export async function openRow(page: Page, index: number): Promise<void> {
  await rows(page).nth(index).locator('[data-field="time"]').click();
}

export function drawer(page: Page): Locator {
  return page.getByRole("complementary", { name: "Event" });
}

/** Waits until a search has answered. */
export async function settled(page: Page): Promise<void> {
  await expect(page.getByRole("grid", { name: "Events" })).toHaveAttribute("aria-busy", "false");
}

/** A word that occurs nowhere else, and is a word by its looks, not an identifier. */
export function uniqueWord(): string {
  const letters = randomUUID()
    .replaceAll("-", "")
    .replaceAll(/\d/g, (digit) => "ghijklmnop"[Number(digit)] ?? "");
  return `word${letters.slice(0, 20)}`;
}

export { expect };
