// What assistive technology is told, where the focus goes back to, and what other settings of the system change.
import type { Page } from "@playwright/test";
import { drawer, expect, openRow, rows, settled, test, uniqueWord } from "./fixtures.ts";

const grid = (page: Page) => page.getByRole("grid", { name: "Events" });

test("the list is a grid whose rows and cells can be counted, and the parts of the page have names", async ({
  page,
  api,
}) => {
  const source = `/e2e/assistive/${uniqueWord()}`;
  await api.sendMany(150, source);
  await page.goto(`/explore?source=${encodeURIComponent(source)}`);
  await settled(page);
  // A hundred are loaded, and how many there are is said where it is known.
  await expect(grid(page)).toHaveAttribute("aria-rowcount", /^(-1|151)$/);
  await expect(grid(page).getByRole("columnheader")).toHaveCount(6);
  await expect(rows(page).nth(3)).toHaveAttribute("aria-rowindex", "5");
  await expect(rows(page).nth(3).getByRole("gridcell")).toHaveCount(6);
  await expect(page.getByRole("status").filter({ hasText: "of 150 events" })).toBeVisible();
  await expect(page.getByRole("banner")).toHaveCount(1);
  await expect(page.getByRole("main")).toHaveCount(1);
  await expect(page.getByRole("complementary", { name: "Fields" })).toBeVisible();
  await expect(page.getByRole("region", { name: "Results" })).toBeVisible();
  await expect(page.getByRole("slider", { name: /^Events over time/ })).toBeVisible();

  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const active = () =>
    grid(page).evaluate((element) => {
      const id = element.getAttribute("aria-activedescendant");
      return document.getElementById(id ?? "")?.getAttribute("aria-selected");
    });
  expect(await active()).toBe("true");
  await openRow(page, 0);
  await expect(drawer(page)).toBeVisible();
});

test("results and errors are said as they come", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.goto("/explore");
  await settled(page);
  const words = page.getByLabel("Words to find");
  await words.fill(word);
  await page.keyboard.press("Enter");
  await expect(page.getByRole("status").filter({ hasText: /^1 event$/ })).toBeVisible();
  await words.fill(`${word} (x`);
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("The last results stay below.");
  await expect(words).toHaveAttribute("aria-invalid", "true");
  await expect(words).toHaveAccessibleDescription(/./);
});

test("the focus goes back to what opened a dialog, a menu or a panel", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}&type=test.event.v1`);
  await expect(rows(page)).toHaveCount(1);
  for (const name of [
    "Saved",
    "Share",
    "Export",
    "Columns",
    "Filter",
    /^Change filter: type/,
    /^Last 24 hours/,
    "Keyboard shortcuts",
    "Theme",
    "Statistics of source",
  ]) {
    const named = page.getByRole("button", { name, ...(typeof name === "string" && { exact: true }) });
    // What opens may have a button of the same name.
    const button = named.and(page.locator(":not([popover] *)"));
    await button.focus();
    await page.keyboard.press("Enter");
    await expect(button).not.toBeFocused();
    const opened = page.locator("dialog[open], [role=dialog], [role=menu]");
    await expect(opened).toHaveCount(1);
    await page.keyboard.press("Escape");
    await expect(opened).toHaveCount(0);
    await expect(button, String(name)).toBeFocused();
  }
  await grid(page).focus();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(drawer(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(drawer(page)).toBeHidden();
  await expect(grid(page)).toBeFocused();
});

test("nothing moves where less motion is wanted", async ({ page }) => {
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.goto("/explore");
  await settled(page);
  const watched = page.evaluate(
    () =>
      new Promise<string[]>((resolve) => {
        const seen: string[] = [];
        const tell = (event: AnimationEvent | TransitionEvent) =>
          seen.push(`${event.type} of ${(event.target as Element).outerHTML.slice(0, 80)}`);
        document.addEventListener("animationstart", tell);
        document.addEventListener("transitionrun", tell);
        document.addEventListener("moved", () => resolve(seen));
      }),
  );
  await openRow(page, 0);
  await expect(drawer(page).getByRole("tab", { name: "Raw" })).toBeVisible();
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await page.evaluate(() => document.dispatchEvent(new Event("moved")));
  expect(await watched).toEqual([]);
});

test("what is chosen is told without tints where the system has its own colours", async ({ page }) => {
  await page.emulateMedia({ forcedColors: "active" });
  await page.goto("/explore");
  await settled(page);
  await openRow(page, 0);
  const outline = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).outlineStyle);
  expect(await outline("[role=row][aria-selected=true]")).toBe("solid");
  await expect(drawer(page).getByRole("tab", { name: "Tree" })).toBeVisible();
  expect(await outline("[role=tab][aria-selected=true]")).toBe("solid");
  // What an input holds can be read, though elsewhere a coloured copy is shown in its place.
  await page.getByLabel("Words to find").fill("severity>=error");
  const [ink, ground] = await page.getByLabel("Words to find").evaluate((element) => {
    const { color } = getComputedStyle(element);
    return [color, getComputedStyle(document.body).backgroundColor];
  });
  expect(ink).not.toBe("rgba(0, 0, 0, 0)");
  expect(ink).not.toBe(ground);
});
