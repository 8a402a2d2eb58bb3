import type { Locator, Page } from "@playwright/test";
import { type Api, drawer, expect, openRow, rows, settled, test, uniqueWord } from "./fixtures.ts";

function heads(page: Page): Locator {
  return page.getByRole("grid", { name: "Events" }).getByRole("columnheader");
}

function cell(page: Page, row: number, field: string): Locator {
  return rows(page).nth(row).locator(`[data-field='${field}']`);
}

/** Three events with an amount, the newest first. */
async function amounts(api: Api, word: string): Promise<void> {
  const values = ['"1.50"', "1.50", "9007199254740993"];
  for (const [index, value] of values.entries()) {
    await api.send({
      type: "test.amount.v1",
      time: new Date(Date.now() - (3 - index) * 1000).toISOString(),
      ...(index === 0 && { extensions: { retry: "7" } }),
      body: `{"w":"${word}","amount":${value},"items":[{"sku":"a"},{"sku":"b"}]}`,
    });
  }
}

/** The list of them, as `shown` says, and the word that finds them. */
async function listed(page: Page, api: Api, shown = ""): Promise<string> {
  const word = uniqueWord();
  await amounts(api, word);
  await page.goto(`/explore?q=${word}${shown}`);
  await expect(rows(page)).toHaveCount(3);
  return word;
}

test("a column of the data shows every value as it was sent, and acts on it", async ({ page, api }) => {
  await listed(page, api, "&cols=time,data.amount,ext.retry,room,data.items[*].sku,summary");
  await expect(heads(page)).toHaveText([
    /Time|UTC/,
    "data.amount",
    "ext.retry",
    "room",
    "data.items[*].sku",
    "Summary",
  ]);
  await expect(cell(page, 0, "data.amount")).toHaveText("9007199254740993");
  await expect(cell(page, 1, "data.amount")).toHaveText("1.50");
  await expect(cell(page, 2, "ext.retry")).toHaveText("7");
  await expect(cell(page, 0, "ext.retry")).toHaveText("Absent");
  await expect(cell(page, 0, "room")).toHaveText("Absent");
  await expect(cell(page, 0, "data.items[*].sku")).toHaveText('["a","b"]');

  // The number and not the text that looks like it, with the keyboard.
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("-");
  await expect(page).toHaveURL(/data\.amount%21=1\.50|data\.amount!=1\.50/);
  await settled(page);
  await expect(rows(page).first().locator("[data-field='data.amount']")).toHaveText("9007199254740993");
});

test("Enter adds the field that is seen, and what was only begun is added by a click", async ({
  page,
  api,
}) => {
  await listed(page, api);
  await page.getByRole("button", { name: "Columns", exact: true }).click();
  const panel = page.getByRole("dialog", { name: "Columns and rows" });
  await panel.getByLabel("Add a column").fill("data.am");
  await expect(panel.getByText("Enter adds data.amount.")).toBeVisible();
  await expect(panel.getByRole("list", { name: "Fields" }).getByRole("button")).toHaveText([
    "data.amount",
    "data.am",
  ]);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/subject,data\.amount,summary/);
  await panel.getByLabel("Add a column").fill("data.am");
  await panel.getByRole("button", { name: "data.am", exact: true }).click();
  await expect(page).toHaveURL(/data\.am,summary/);
});

test("a column is added from any value's menu, and taken away again", async ({ page, api }) => {
  await listed(page, api);
  await openRow(page, 0);
  const tree = drawer(page).getByRole("tree", { name: "Data, as a tree" });
  await tree.getByRole("treeitem").filter({ hasText: "amount" }).click();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Add column" }).click();
  await expect(page).toHaveURL(/cols=time,severity,type,source,subject,data\.amount,summary/);
  await page.keyboard.press("Escape");
  await expect(drawer(page)).toBeHidden();
  await expect(cell(page, 0, "data.amount")).toHaveText("9007199254740993");

  await page.reload();
  await expect(cell(page, 0, "data.amount")).toHaveText("9007199254740993");
  await heads(page).filter({ hasText: "data.amount" }).getByRole("button").click();
  await page.getByRole("menuitem", { name: "Remove column" }).click();
  await expect(heads(page)).toHaveCount(6);
  await expect(page).not.toHaveURL(/data\.amount/);
});

test("columns are dragged to another place and another width, which the address keeps", async ({
  page,
  api,
}) => {
  await listed(page, api, "&cols=time,type,data.amount,summary");
  await heads(page)
    .filter({ hasText: "data.amount" })
    .dragTo(heads(page).filter({ hasText: "Type" }));
  await expect(page).toHaveURL(/cols=time,data\.amount,type,summary/);

  const edge = page.locator('[data-resize="data.amount"]');
  const box = await edge.boundingBox();
  if (!box) throw new Error("no edge");
  await page.mouse.move(box.x + 4, box.y + 10);
  await page.mouse.down();
  await page.mouse.move(box.x + 34, box.y + 10);
  await page.mouse.move(box.x + 64, box.y + 10);
  await page.mouse.up();
  await expect(page).toHaveURL(/cols=time,data\.amount:210,type,summary/);
  expect((await cell(page, 0, "data.amount").boundingBox())?.width).toBe(210);
  await edge.dblclick();
  await expect(page).toHaveURL(/cols=time,data\.amount,type,summary/);
});

test("everything about columns is done with the keyboard", async ({ page, api }) => {
  await listed(page, api);
  await page.getByRole("button", { name: "Columns", exact: true }).focus();
  await page.keyboard.press("Enter");
  const panel = page.getByRole("dialog", { name: "Columns and rows" });
  await expect(panel.getByLabel("Add a column")).toBeFocused();
  await page.keyboard.type("data.amount\n");
  await expect(page).toHaveURL(/subject,data\.amount,summary/);
  await panel.getByRole("button", { name: "Move data.amount up" }).focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/source,data\.amount,subject/);
  await expect(panel.getByRole("button", { name: "Move data.amount up" })).toBeFocused();
  await panel.getByLabel("Width of data.amount in pixels").focus();
  await page.keyboard.type("200\n");
  await expect(page).toHaveURL(/data\.amount:200,/);
  await panel.getByRole("button", { name: "Dense" }).press("Enter");
  await expect(page).toHaveURL(/density=dense/);
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
  expect((await rows(page).first().boundingBox())?.height).toBe(24);

  // And in the list itself.
  await page.keyboard.press("j");
  await expect(page.getByRole("grid", { name: "Events" })).toBeFocused();
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowLeft");
  await expect(page).toHaveURL(/type,data\.amount:200,source/);
  await page.keyboard.press(">");
  await expect(page).toHaveURL(/data\.amount:224,/);
  await page.keyboard.press("<");
  await expect(page).toHaveURL(/data\.amount:200,/);
  await page.keyboard.press("b");
  const statistics = page.getByRole("dialog", { name: "Statistics of data.amount" });
  await expect(statistics).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(statistics).toBeHidden();
  await page.getByRole("grid", { name: "Events" }).focus();
  await page.keyboard.press("Delete");
  await expect(page).not.toHaveURL(/data\.amount/);
});

test("at 1280 px the drawer lies over the summary, and every other column stays in sight", async ({
  page,
  api,
}) => {
  await listed(page, api);
  const before = await cell(page, 0, "subject").boundingBox();
  await openRow(page, 0);
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
  const pane = await drawer(page).boundingBox();
  const after = await cell(page, 0, "subject").boundingBox();
  const summary = await cell(page, 0, "summary").boundingBox();
  expect(after).toEqual(before);
  expect(pane?.x).toBeGreaterThanOrEqual((after?.x ?? 0) + (after?.width ?? 0));
  expect(Math.abs((pane?.x ?? 0) - (summary?.x ?? 0))).toBeLessThan(20);
});

test("a column of a field that there cannot be is marked, and asks for nothing", async ({ page, api }) => {
  await listed(page, api, "&cols=time,data..x,type");
  await expect(page.getByTitle("There is no field data..x")).toBeVisible();
});

test.describe("at 390 px", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("columns stand in the second line and are chosen in a sheet", async ({ page, api }) => {
    await listed(page, api);
    await page.getByRole("button", { name: "More", exact: true }).tap();
    await page.getByRole("menuitem", { name: "Columns and rows" }).tap();
    const sheet = page.getByRole("dialog", { name: "Columns and rows" });
    await sheet.getByLabel("Add a column").fill("data.amount");
    await sheet.getByRole("list", { name: "Fields" }).getByRole("button").first().tap();
    await sheet.getByRole("button", { name: "Done" }).tap();
    await expect(rows(page).first()).toContainText("data.amount 9007199254740993");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });
});
