import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "@playwright/test";
import { drawer, expect, rows, settled, test, uniqueWord } from "./fixtures.ts";

const assets = fileURLToPath(new URL("../dist/assets", import.meta.url));
const scriptBudget = 170 * 1024;
const wholeBudget = 260 * 1024;

/** A file too small to be worth it has no compressed twin. */
function sentBytes(name: string): number {
  const path = `${assets}/${name}`;
  return readFileSync(existsSync(`${path}.gz`) ? `${path}.gz` : path).length;
}

test("the scripts before the first rows fit the budget, and the event's come when the browser is idle", async ({
  page,
}) => {
  const loaded: string[] = [];
  page.on("response", (response) => {
    const name = new URL(response.url()).pathname.split("/").at(-1) ?? "";
    if (name.endsWith(".js") && response.url().includes("/assets/")) loaded.push(name);
  });
  await page.addInitScript(() => {
    window.requestIdleCallback = (task) => {
      Object.assign(window, { idle: task });
      return 1;
    };
  });
  await page.goto("/explore");
  await expect(rows(page).first()).toBeVisible();
  const before = [...loaded];
  const bytes = before.map(sentBytes).reduce((a, b) => a + b, 0);
  expect(bytes).toBeGreaterThan(50 * 1024);
  expect(bytes).toBeLessThan(scriptBudget);

  expect(before.filter((name) => name.startsWith("Event"))).toEqual([]);
  await page.waitForFunction(() => "idle" in window);
  await page.evaluate(() => (window as unknown as { idle: () => void }).idle());
  await expect
    .poll(() => loaded.filter((name) => name.startsWith("Event")).map((name) => name.split("-")[0]))
    .toEqual(expect.arrayContaining(["EventDrawer", "EventPage"]));
});

test("all scripts of the app fit the budget", () => {
  const scripts = readdirSync(assets).filter((name) => name.endsWith(".js"));
  expect(scripts.length).toBeGreaterThan(5);
  expect(scripts.map(sentBytes).reduce((a, b) => a + b, 0)).toBeLessThan(wholeBudget);
});

test("nothing moves as results, errors and events come and go", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await recordShifts(page);
  await page.goto("/explore");
  await expect(rows(page).first()).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(drawer(page).getByRole("tree", { name: "Data, as a tree" })).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("Escape");
  await page.getByLabel("Words to find").fill("(x");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toBeVisible();
  await page.getByLabel("Words to find").fill(word);
  await page.keyboard.press("Enter");
  await expect(rows(page)).toHaveCount(1);
  await page.route("**/v1/events**", (route) => route.abort());
  await page.getByRole("button", { name: "New snapshot" }).click();
  await expect(page.getByRole("alert")).toContainText("Shown as of");
  await page.unroute("**/v1/events**");
  await page.getByRole("button", { name: "Now" }).click();
  await settled(page);
  await expect(page.getByRole("status").getByText("1 event", { exact: true })).toBeVisible();
  expect(await shiftsOf(page)).toEqual([]);
});

test("nothing moves as the pages of Admin come and are searched", async ({ pageOf }) => {
  const page = await pageOf("admin");
  await recordShifts(page);
  await page.goto("/admin/tokens");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await page.getByLabel("Name or prefix").fill("nothing is called so");
  await expect(page.getByRole("heading", { name: "No tokens match" })).toBeVisible();
  await page.getByRole("link", { name: "Audit" }).click();
  await expect(page.getByRole("button", { name: /^token.create by / }).first()).toBeVisible();
  expect(await shiftsOf(page)).toEqual([]);
});

async function recordShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts: string[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        sources: { node: Node | null }[];
      })[]) {
        const what = entry.sources.map(({ node }) =>
          node instanceof Element ? node.outerHTML.slice(0, 120) : node?.textContent,
        );
        if (entry.value > 0.002) shifts.push(`${entry.value.toFixed(4)} ${what.join(" | ")}`);
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

function shiftsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => (window as unknown as { shifts: string[] }).shifts);
}
