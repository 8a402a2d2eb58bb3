import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { drawer, expect, openRow, rows, test } from "./fixtures.ts";

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function violations(page: Page): Promise<string[]> {
  // Colours are measured once nothing moves.
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
  const { violations: found } = await new AxeBuilder({ page }).withTags(tags).analyze();
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`),
  );
}

for (const theme of ["dark", "light"] as const) {
  test(`nothing is in the way of assistive technology, ${theme}`, async ({ page, api }) => {
    const sent = await api.send({
      type: "test.axe.v1",
      extensions: { severity: "warning" },
      body: '{"a":1,"a":9007199254740993,"s":"text","n":null,"nested":{"b":[true,{}]}}',
    });
    await page.emulateMedia({ colorScheme: theme });
    await page.goto("/explore?type!=test.other.v1");
    await expect(rows(page).first()).toBeVisible();
    expect(await violations(page)).toEqual([]);

    await page.getByRole("button", { name: /^Last 24 hours/ }).click();
    await expect(page.getByRole("dialog", { name: "Time window" })).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");

    await page.goto("/explore?type=test.axe.v1");
    await openRow(page, 0);
    await expect(drawer(page).getByRole("region", { name: "Data, printed" })).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await drawer(page).getByRole("button", { name: "Copy" }).click();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");

    await page.goto("/explore?q=(x");
    await expect(page.getByText("The query was not run.")).toBeVisible();
    expect(await violations(page)).toEqual([]);

    await page.goto(sent.path);
    await expect(page.getByRole("region", { name: "Data, printed" })).toBeVisible();
    await page.getByRole("tab", { name: "Raw" }).click();
    expect(await violations(page)).toEqual([]);
  });
}

test("a theme is chosen, holds, and does not flash in another", async ({ page }) => {
  await page.goto("/explore");
  await page.getByRole("button", { name: "Theme" }).click();
  await page.getByRole("menuitemradio", { name: "Light" }).click();
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(await background()).toBe("rgb(244, 246, 244)");
  await page.reload({ waitUntil: "commit" });
  await page.waitForFunction(() => document.body !== null);
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("light");
  await page.getByRole("button", { name: "Theme" }).click();
  await page.getByRole("menuitemradio", { name: "As the system" }).click();
  expect(await background()).toBe("rgb(11, 15, 14)");
});
