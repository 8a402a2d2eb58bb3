import AxeBuilder from "@axe-core/playwright";
import { expect, rows, test, uniqueWord } from "./fixtures.ts";

test("two events are selected and compared with the keyboard, value by value", async ({ page, api }) => {
  const word = uniqueWord();
  const past = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
  await api.send({ time: past(3), body: `{"w":"${word}","n":9007199254740993,"same":true}` });
  await api.send({ time: past(2), body: `{"w":"${word}","n":9007199254740992,"same":true,"x":"<b>"}` });
  await api.send({ time: past(1), body: `{"w":"${word}","other":1}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(3);
  const bar = page.getByRole("region", { name: "Selected events" });

  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(bar).toContainText("1 event selected");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  // Of three the first gives way.
  await expect(bar).toContainText("2 events selected");
  await expect(rows(page).nth(0)).not.toContainText("Selected to compare");
  await expect(rows(page).nth(1)).toContainText("Selected to compare");

  await page.keyboard.press("=");
  const dialog = page.getByRole("dialog", { name: "Compare two events" });
  const row = (name: string) =>
    dialog.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
  await expect(row("data.n").getByRole("cell")).toHaveText([/^9007199254740992/, /^9007199254740993/]);
  await expect(row("data.x").getByRole("cell")).toHaveText([/^"<b>"/, "absent"]);
  await expect(row("data.same")).toHaveCount(0);
  await dialog.getByRole("button", { name: /^All/ }).click();
  await expect(row("data.same")).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).include("dialog[open]").analyze();
  expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(dialog).toBeHidden();
  await expect(page.getByRole("grid", { name: "Events" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(bar).toBeHidden();
});

test("two events are selected with the mouse: by their box, by Ctrl and a press, and by the menu", async ({
  page,
  api,
}) => {
  const word = uniqueWord();
  for (let index = 0; index < 3; index++) await api.send({ body: `{"w":"${word}","n":${index}}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(3);
  const bar = page.getByRole("region", { name: "Selected events" });
  await rows(page).nth(0).hover();
  await rows(page).nth(0).locator("[data-pick]").click();
  await expect(bar).toContainText("1 event selected");
  await rows(page)
    .nth(1)
    .locator('[data-field="time"]')
    .click({ modifiers: ["Control"] });
  await expect(bar).toContainText("2 events selected");
  await rows(page).nth(1).locator('[data-field="type"]').hover();
  await rows(page)
    .nth(1)
    .getByRole("button", { name: /^More for type/ })
    .click();
  await page.getByRole("menuitem", { name: "No longer compare" }).click();
  await expect(bar).toContainText("1 event selected");
  await expect(rows(page).nth(0)).toContainText("Selected to compare");
});

test("a text is found in rows that are not rendered, and reading on finds more", async ({ page, api }) => {
  const source = `/e2e/find/${Date.now()}`;
  await api.sendMany(150, source);
  await page.goto(`/explore?source=${source}`);
  await expect(rows(page).first()).toBeVisible();
  await page.keyboard.press("f");
  const input = page.getByRole("textbox", { name: "Find in results" });
  await expect(input).toBeFocused();
  // The newest is 149; far below what is in sight.
  await page.keyboard.type("index 77");
  const bar = page.getByRole("search", { name: "Find in results" });
  await expect(bar).toContainText("1 in");
  await page.keyboard.press("Enter");
  await expect(bar).toContainText("1 of 1 in");
  await expect(page.locator('[data-index="72"]')).toHaveAttribute("aria-selected", "true");
  await expect(page.locator('[data-index="72"]')).toBeInViewport();
  await expect(input).toBeFocused();

  await input.fill("index 14");
  await expect(bar).toContainText(/\d+ in \d+ loaded rows/);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.press("Escape");
  await expect(bar).toBeHidden();
  await expect(page.getByRole("grid", { name: "Events" })).toBeFocused();
});
