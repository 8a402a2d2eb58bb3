import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, rows, test, uniqueWord } from "./fixtures.ts";

const sheet = (page: Page) => page.getByRole("dialog", { name: "Event" });

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

test("at 390 px rows take two lines, the event is a sheet, and nothing needs hover or scrolls sideways", async ({
  page,
  api,
}) => {
  const word = uniqueWord();
  await api.send({
    type: "test.narrow.with.a.long.name.v1",
    subject: "s-1",
    extensions: { severity: "critical" },
    body: `{"w":"${word}"}`,
  });
  await page.goto("/explore");
  await page.getByLabel("Words to find").fill(word);
  await page.getByRole("button", { name: "Run the query" }).tap();
  await expect(rows(page)).toHaveCount(1);
  expect((await rows(page).first().boundingBox())?.height).toBe(56);
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await wide()).toBe(390);

  await rows(page).first().tap();
  await expect(sheet(page).getByRole("heading", { name: "test.narrow.with.a.long.name.v1" })).toBeVisible();
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
  expect(await sheet(page).boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 });
  expect(await wide()).toBe(390);
  await expect(sheet(page).getByRole("button", { name: "Close event" })).toBeFocused();
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("Tab");
    const under = () =>
      document.activeElement !== document.body && document.activeElement?.closest("[role=dialog]") === null;
    expect(await page.evaluate(under)).toBe(false);
  }
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([]);

  await sheet(page).getByRole("button", { name: "More for subject s-1" }).tap();
  await page.getByRole("menuitem", { name: "Include" }).tap();
  await expect(page).toHaveURL(/subject=s-1/);
  await sheet(page).getByRole("button", { name: "Close event" }).tap();
  await expect(sheet(page)).toBeHidden();
  await expect(page.getByRole("button", { name: "Change filter: subject is s-1" })).toBeVisible();
});

/** What can be pressed and is less than 40 px high or wide. */
function small(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("button, a, input")]
      .filter((element) => element.checkVisibility() && !element.closest(".sr-only, [inert]"))
      .map((element) => {
        // A box is ticked by a tap on its label as well.
        const target = element.matches("[type=checkbox]") ? (element.closest("label") ?? element) : element;
        const { width, height } = target.getBoundingClientRect();
        // While a sheet slides in, its edges are differences of floating-point numbers.
        const hundredths = (n: number) => Math.round(n * 100) / 100;
        const name = element.getAttribute("aria-label") ?? element.textContent;
        return { name, width: hundredths(width), height: hundredths(height) };
      })
      .filter(({ width, height }) => height > 1 && (height < 40 || width < 40))
      .map(({ name, width, height }) => `${name} ${width}×${height}`),
  );
}

test("targets are large enough for a finger", async ({ page }) => {
  await page.goto("/explore?type!=none");
  await expect(rows(page).first()).toBeVisible();
  expect(await small(page)).toEqual([]);
  await rows(page).first().tap();
  await expect(sheet(page).getByRole("tab", { name: "Raw" })).toBeVisible();
  expect(await small(page)).toEqual([]);
});

test("every panel of the search fits, and is worked with a finger", async ({ page, api }) => {
  test.slow();
  const word = uniqueWord();
  for (const subject of ["s-1", "s-2"]) {
    await api.send({ subject, extensions: { severity: "error" }, body: `{"w":"${word}","n":1}` });
  }
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(2);
  await expect(page.getByRole("slider", { name: /^Events over time/ })).toBeInViewport({ ratio: 1 });
  const fits = async () => {
    await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
    expect(await small(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    const beyond = await page.evaluate(() =>
      [...document.querySelectorAll("button, a, input, select, textarea")]
        .filter((element) => element.checkVisibility() && !element.closest(".sr-only, [inert]"))
        // What is scrolled sideways on its own may be out of sight.
        .filter((element) => !element.closest("[class*=overflow-x-auto], [class*=overflow-hidden]"))
        .filter((element) => {
          const { left, right, width } = element.getBoundingClientRect();
          return width > 1 && (left < -1 || right > 391);
        })
        .map((element) => element.outerHTML.slice(0, 200)),
    );
    expect(beyond).toEqual([]);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([]);
  };
  const dialog = (name: string) => page.getByRole("dialog", { name, exact: true });
  const fromMenu = async (item: string) => {
    await page.getByRole("button", { name: "More", exact: true }).tap();
    await page.getByRole("menuitem", { name: item, exact: true }).tap();
  };

  await test.step("filters", async () => {
    await page.getByRole("button", { name: "Filters" }).tap();
    await expect(page.getByRole("checkbox", { name: /^s-1,/ })).toBeVisible();
    await fits();
    await page.getByRole("checkbox", { name: /^s-1,/ }).tap();
    await dialog("Filters").getByRole("button", { name: "Statistics of subject" }).tap();
    await expect(dialog("Statistics of subject")).toContainText("event");
    await fits();
    await dialog("Statistics of subject")
      .getByRole("button", { name: /^Close/ })
      .tap();
    await dialog("Filters").getByRole("button", { name: "Filter", exact: true }).tap();
    await expect(dialog("Add a filter").getByLabel("Values, one on each line")).toBeVisible();
    await fits();
    await page.keyboard.press("Escape");
    await dialog("Filters").getByRole("button", { name: "Show 1" }).tap();
    await expect(rows(page)).toHaveCount(1);
    await page.getByRole("button", { name: "Change filter: subject is s-1" }).tap();
    await expect(dialog("Filter: subject").getByRole("button", { name: "Negate" })).toBeVisible();
    await fits();
    await dialog("Filter: subject")
      .getByRole("button", { name: /^Remove/ })
      .tap();
    await expect(rows(page)).toHaveCount(2);
  });

  await test.step("a bar", async () => {
    const bars = page.getByRole("slider", { name: /^Events over time/ });
    const box = await bars.boundingBox();
    await bars.tap({ position: { x: (box?.width ?? 0) - 4, y: 20 } });
    await expect(page.getByRole("button", { name: "Zoom in" })).toBeVisible();
    await fits();
    await page.keyboard.press("Escape");
  });

  await test.step("columns, finding and the window", async () => {
    await fromMenu("Columns and rows");
    await expect(dialog("Columns and rows").getByLabel("Add a column")).toBeVisible();
    await fits();
    await dialog("Columns and rows").getByRole("button", { name: "Done" }).tap();
    await fromMenu("Find in results");
    await expect(page.getByRole("textbox", { name: "Find in results" })).toBeFocused();
    await fits();
    await page.getByRole("button", { name: "Close find" }).tap();
    await page.getByRole("button", { name: /^Last 24 hours/ }).tap();
    await expect(dialog("Time window").getByLabel("Window in words")).toBeVisible();
    await fits();
    await page.keyboard.press("Escape");
  });

  await test.step("saving, sharing and exporting", async () => {
    await fromMenu("Saved searches…");
    await expect(dialog("Saved searches").getByRole("button", { name: "Save this search…" })).toBeVisible();
    await fits();
    await page.keyboard.press("Escape");
    await fromMenu("Share…");
    await expect(dialog("Share this search").getByRole("button", { name: "Copy link" })).toBeVisible();
    await fits();
    await page.keyboard.press("Escape");
    await fromMenu("Export…");
    await expect(dialog("Export events")).toContainText("2 events");
    await fits();
    await page.keyboard.press("Escape");
  });

  await test.step("comparing", async () => {
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await fits();
    await page.getByRole("button", { name: /^Compare/ }).tap();
    await expect(dialog("Compare two events")).toBeVisible();
    await fits();
    await page.keyboard.press("Escape");
  });
});

test.describe("an admin", () => {
  test.use({ role: "admin" });

  test("has tokens and the record as stacked lines, every action under the finger", async ({ page }) => {
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
    const name = uniqueWord();
    await page.goto("/explore");
    await page.getByRole("link", { name: "Admin" }).tap();
    await expect(page.getByRole("list", { name: "Tokens" }).getByRole("listitem").first()).toBeVisible();
    expect(await small(page)).toEqual([]);
    expect(await wide()).toBe(390);

    await page.getByRole("button", { name: "New token" }).tap();
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByLabel("Reason").fill(`for ${name}`);
    await page.getByLabel("events:write").check();
    await page.getByRole("button", { name: "Last day" }).tap();
    expect(await small(page)).toEqual([]);
    expect(await wide()).toBe(390);
    await page.getByRole("button", { name: "Never" }).tap();
    await page.getByRole("button", { name: "Make token" }).tap();
    const once = page.getByRole("region", { name: "New token" });
    const secret = await once.locator("code").boundingBox();
    const copy = await once.getByRole("button", { name: "Copy" }).boundingBox();
    expect(copy?.y).toBeGreaterThanOrEqual((secret?.y ?? 0) + (secret?.height ?? 0));
    expect(await once.locator("code").evaluate((code) => code.scrollWidth <= code.clientWidth)).toBe(true);
    expect(await small(page)).toEqual([]);
    expect(await wide()).toBe(390);
    const made = page.getByRole("listitem").filter({ hasText: name });
    await made.getByRole("button", { name: `Revoke ${name}` }).tap();
    await page.getByRole("alertdialog").getByLabel("Reason").fill("no longer");
    expect(await small(page)).toEqual([]);
    await page.getByRole("button", { name: "Revoke token" }).tap();
    await expect(made).toContainText("revoked");

    await page.getByRole("link", { name: "Audit" }).tap();
    await page.getByLabel("Text, or a request id").fill(name);
    await page.keyboard.press("Enter");
    await page
      .getByRole("button", { name: /^token.create by / })
      .first()
      .tap();
    await expect(page.getByRole("list", { name: "Before and after" })).toContainText(name);
    expect(await small(page)).toEqual([]);
    expect(await wide()).toBe(390);
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([]);
  });

  test("is told what a control needs by a tap", async ({ page }) => {
    await page.route("**/v1/session", async (route) => {
      const session = (await (await route.fetch()).json()) as { scopes: string[]; roles: string[] };
      await route.fulfill({
        json: { ...session, roles: ["analyst"], scopes: ["events:read", "admin:read"] },
      });
    });
    await page.goto("/admin/tokens");
    await page.getByRole("button", { name: "New token" }).tap({ force: true });
    await expect(page.getByText("Needs the admin role. You are analyst.").first()).toBeVisible();
    await expect(page).toHaveURL(/\/admin\/tokens$/);
  });
});

test("the time window and the filters share a row, and the address of the view is in the menu", async ({
  page,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/explore?from=2025-11-30T12:43:00Z&until=2026-11-30T12:45:00Z");
  const time = page.getByRole("button", { name: /30 Nov 2025 12:43:00 – 30 Nov 2026 12:45:00/ });
  const filter = page.getByRole("button", { name: "Filters" });
  const top = async (of: typeof time) => (await of.boundingBox())?.y;
  expect(await top(time)).toBe(await top(filter));
  await page.getByRole("button", { name: "More", exact: true }).tap();
  await page.getByRole("menuitem", { name: "Copy the address of this view" }).tap();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
});

test.describe("at 200 % zoom", () => {
  test.use({ viewport: { width: 640, height: 400 } });

  test("the time window can be applied", async ({ page }) => {
    await page.goto("/explore");
    await page.getByRole("button", { name: /^Last 24 hours/ }).tap();
    await expect(page.getByRole("button", { name: "Apply" })).toBeInViewport({ ratio: 1 });
    await expect(page.getByRole("group", { name: "Time zone" })).toBeInViewport({ ratio: 1 });
    await page.getByLabel("From").fill("-1w");
    await page.getByRole("button", { name: "Apply" }).tap();
    await expect(page).toHaveURL(/from=-1w/);
  });
});
