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
  await page.addInitScript(() => {
    const idle: (() => void)[] = [];
    window.requestIdleCallback = (task) =>
      idle.push(() => task({ didTimeout: false, timeRemaining: () => 50 }));
    Object.assign(window, { idle });
    const watch = new MutationObserver(() => {
      if (!document.querySelector("[role=grid] [data-index]")) return;
      Object.assign(window, { firstRows: performance.now() });
      watch.disconnect();
    });
    watch.observe(document, { childList: true, subtree: true });
  });
  await page.goto("/explore");
  await expect(rows(page).first()).toBeVisible();
  // All that comes by itself, but for what the browser does when it is idle.
  await expect(page.getByRole("list", { name: "Values of source" })).toBeVisible();
  const { before, all } = await scripts(page);
  const bytes = before.map(sentBytes).reduce((a, b) => a + b, 0);
  expect(bytes).toBeGreaterThan(50 * 1024);
  expect(bytes).toBeLessThan(scriptBudget);
  expect(before.length).toBeLessThan(all.length);
  expect(all.filter((name) => name.startsWith("Event"))).toEqual([]);

  await page.evaluate(() => {
    for (const task of (window as unknown as { idle: (() => void)[] }).idle) task();
  });
  await expect
    .poll(async () => (await scripts(page)).all.map((name) => name.split("-")[0]))
    .toEqual(expect.arrayContaining(["EventDrawer", "EventPage"]));
});

/** The names of the scripts that were asked for: all of them, and those before there was a row. */
function scripts(page: Page): Promise<{ before: string[]; all: string[] }> {
  return page.evaluate(() => {
    const { firstRows } = window as unknown as { firstRows: number };
    const asked = performance
      .getEntriesByType("resource")
      .map(({ name, startTime }) => ({ name: new URL(name).pathname, startTime }))
      .filter(({ name }) => name.includes("/assets/") && name.endsWith(".js"));
    const names = (of: typeof asked) => of.map(({ name }) => name.split("/").at(-1) ?? "");
    return { before: names(asked.filter(({ startTime }) => startTime <= firstRows)), all: names(asked) };
  });
}

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
  await expect(page.getByRole("list", { name: "Values of source" })).toBeVisible();
  await expect(page.getByRole("slider", { name: /^Events over time/ })).toBeVisible();
  expect(await shiftsOf(page)).toEqual([]);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(drawer(page).getByRole("tree", { name: "Data, as a tree" })).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("Escape");
  await expect(drawer(page)).toBeHidden();
  await painted(page);
  // The line of totals and the bars make room for the event that was asked for; nothing else does.
  expect((await shiftsOf(page)).filter((shift) => !shift.startsWith("above the rows"))).toEqual([]);
  await forgetShifts(page);
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
  // The legend is of the values that the results have: where there are fewer, they close up, which is less than a hundredth.
  const ofLegend = / 0\.00\d+ .*rounded-1 px-1 t-11/;
  expect((await shiftsOf(page)).filter((shift) => !ofLegend.test(shift))).toEqual([]);
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
    const place = (node: Node | null) => {
      const element = node instanceof Element ? node : node?.parentElement;
      const within = element?.closest("section[aria-label=Results]") && !element.closest("[role=grid]");
      return within ? "above the rows" : "elsewhere";
    };
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        value: number;
        sources: { node: Node | null }[];
      })[]) {
        const what = entry.sources.map(({ node }) =>
          node instanceof Element ? node.outerHTML.slice(0, 120) : node?.textContent,
        );
        const where = entry.sources.some(({ node }) => place(node) === "elsewhere");
        const told = `${where ? "elsewhere" : "above the rows"} ${entry.value.toFixed(4)} ${what.join(" | ")}`;
        if (entry.value > 0.002) shifts.push(told);
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

function shiftsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => (window as unknown as { shifts: string[] }).shifts);
}

function forgetShifts(page: Page): Promise<void> {
  return page.evaluate(() => {
    (window as unknown as { shifts: string[] }).shifts.length = 0;
  });
}

/** Waits for two frames, by when what moved has been told. */
function painted(page: Page): Promise<void> {
  return page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
  );
}
