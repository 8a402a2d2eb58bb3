import type { Page } from "@playwright/test";
import { drawer, expect, openRow, rows, settled, test } from "./fixtures.ts";

const top = (page: Page) => page.getByRole("grid", { name: "Events" }).evaluate((grid) => grid.scrollTop);

test("back from an event's page the list is where it was, on the same snapshot and without a question", async ({
  page,
  api,
}) => {
  const source = `/e2e/place/${Date.now()}`;
  await api.sendMany(300, source);
  const missing: string[] = [];
  page.on("response", (answer) => {
    if (answer.status() === 404) missing.push(answer.url());
  });
  await page.goto(`/explore?source=${source}`);
  await expect(rows(page).first()).toBeVisible();
  await page.getByRole("grid", { name: "Events" }).evaluate((grid) => grid.scrollTo({ top: 2400 }));
  await expect(page.locator('[data-index="90"]')).toBeVisible();
  await page.locator('[data-index="90"] [data-field="time"]').click();
  await expect(drawer(page).getByRole("tree", { name: "Data, as a tree" })).toBeVisible();
  const before = await top(page);
  expect(before).toBeGreaterThan(2000);
  const asked: string[] = [];
  await drawer(page).getByRole("link", { name: "Open as page" }).click();
  await expect(page.getByRole("heading", { name: "test.many.v1" })).toBeVisible();
  page.on("request", (request) => {
    if (request.url().includes("/v1/")) asked.push(request.url());
  });
  await page.goBack();
  await expect(page.locator('[data-index="90"]')).toHaveAttribute("aria-selected", "true");
  await expect(page.locator('[data-index="90"]')).toBeInViewport();
  expect(await top(page)).toBe(before);
  expect(asked).toEqual([]);
  expect(missing).toEqual([]);
});

test("a link to an event behind the first page finds its row, and one outside the list says so", async ({
  page,
  api,
}) => {
  const source = `/e2e/far/${Date.now()}`;
  await api.sendMany(300, source);
  await page.goto(`/explore?source=${source}`);
  await expect(rows(page).first()).toBeVisible();
  const grid = page.getByRole("grid", { name: "Events" });
  await grid.focus();
  await expect(async () => {
    await page.keyboard.press("End");
    await expect(page.locator('[data-index="299"]')).toHaveAttribute("aria-selected", "true", {
      timeout: 500,
    });
  }).toPass();
  await page.keyboard.press("Enter");
  await expect(drawer(page).getByRole("tree", { name: "Data, as a tree" })).toBeVisible();
  const url = page.url();

  await page.goto("about:blank");
  await page.goto(url);
  await expect(page.locator('[data-index="299"]')).toHaveAttribute("aria-selected", "true");
  await expect(page.locator('[data-index="299"]')).toBeInViewport();
  await drawer(page).getByRole("button", { name: "Previous event" }).click();
  await expect(page.locator('[data-index="298"]')).toHaveAttribute("aria-selected", "true");

  await page.goto(url.replace(/source=[^&]*/, "type=test.none.v1"));
  await settled(page);
  await expect(drawer(page).getByText("Not among the 0 rows that are loaded.")).toBeVisible();
});

test("how the data is shown is in the address", async ({ page, api }) => {
  const source = `/e2e/form/${Date.now()}`;
  await api.sendMany(1, source);
  await page.goto(`/explore?source=${source}`);
  await openRow(page, 0);
  await drawer(page).getByRole("tab", { name: "Raw" }).click();
  await expect(page).toHaveURL(/view=raw/);
  await page.reload();
  await expect(drawer(page).getByRole("region", { name: "Data, as received" })).toBeVisible();
  await drawer(page).getByRole("link", { name: "Open as page" }).click();
  await expect(page.getByRole("region", { name: "Data, as received" })).toBeVisible();
  await page.goBack();
  // The choice made no step of its own.
  await page.keyboard.press("Escape");
  await expect(drawer(page)).toBeHidden();
});
