// Nothing here touches the pointer or gives an element the focus: keys alone.
import type { Locator, Page } from "@playwright/test";
import { drawer, expect, rows, settled, test, uniqueWord } from "./fixtures.ts";

/** Goes on with Tab, or back, until an element has the focus. */
async function tabTo(page: Page, to: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  const most = 160;
  const there = () => to.evaluateAll((elements) => elements.some((one) => one === document.activeElement));
  for (let i = 0; i < most && !(await there()); i++) await page.keyboard.press(key);
  await expect(to).toBeFocused();
}

test("the whole of exploring is done by keyboard alone", async ({ page, api, context }) => {
  test.slow();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  // The dialog for a file is the browser's own, which no test can answer.
  await page.addInitScript(() => Reflect.deleteProperty(window, "showSaveFilePicker"));
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const word = uniqueWord();
  const minutes = (ago: number) => new Date(Date.now() - ago * 60_000).toISOString();
  for (const [index, ago] of [50, 40, 30, 20].entries()) {
    await api.send({
      type: index % 2 === 0 ? "test.even.v1" : "test.odd.v1",
      subject: `${word}-${index}`,
      time: minutes(ago),
      body: `{"w":"${word}","n":${index}}`,
    });
  }
  const grid = page.getByRole("grid", { name: "Events" });
  const { keyboard } = page;
  await page.goto("/explore");
  await settled(page);

  await test.step("a query is written, completed and run", async () => {
    await keyboard.press("/");
    await keyboard.type(`${word} type:test.`);
    await expect(page.getByRole("listbox", { name: "Suggestions" })).toBeVisible();
    await keyboard.type("*");
    await keyboard.press("Escape");
    await expect(page.getByLabel("Words to find")).toBeFocused();
    await keyboard.press("ControlOrMeta+a");
    await keyboard.type(`${word} type:test.*\n`);
    await expect(rows(page)).toHaveCount(4);
  });

  await test.step("the window is chosen in words", async () => {
    await keyboard.press("Escape");
    await expect(grid).toBeFocused();
    await keyboard.press("d");
    await expect(page.getByLabel("Window in words")).toBeFocused();
    await keyboard.type("last 2 hours\n");
    await expect(page).toHaveURL(/from=-2h/);
    await expect(rows(page)).toHaveCount(4);
  });

  await test.step("a filter is added, changed and removed", async () => {
    await keyboard.press("Alt+f");
    const form = page.getByRole("dialog", { name: "Add a filter" });
    await tabTo(page, form.getByRole("combobox", { name: "Field" }));
    await keyboard.press("ControlOrMeta+a");
    await keyboard.type("subject");
    await tabTo(page, form.getByLabel("Values, one on each line"));
    await keyboard.type(`${word}-0`);
    await keyboard.press("Control+Enter");
    await expect(rows(page)).toHaveCount(1);
    const chip = (name: string) => page.getByRole("button", { name: `Change filter: subject ${name}` });
    await tabTo(page, chip(`is ${word}-0`), "Shift+Tab");
    await keyboard.press("n");
    await expect(rows(page)).toHaveCount(3);
    await tabTo(page, chip(`is not ${word}-0`));
    await keyboard.press("Space");
    await expect(rows(page)).toHaveCount(4);
    await tabTo(page, chip(`is not ${word}-0, disabled`));
    await keyboard.press("Delete");
    await expect(page).not.toHaveURL(/subject/);
  });

  await test.step("values of a field are picked and kept out", async () => {
    const even = page.getByRole("checkbox", { name: /^test\.even\.v1,/ });
    const odd = page.getByRole("checkbox", { name: /^test\.odd\.v1,/ });
    await tabTo(page, page.getByRole("list", { name: "Values of type" }).locator("[data-row='0']"));
    await keyboard.press("End");
    await expect(odd).toBeFocused();
    await keyboard.press("Space");
    await expect(rows(page)).toHaveCount(2);
    await keyboard.press("Space");
    await expect(rows(page)).toHaveCount(4);
    await keyboard.press("-");
    await expect(rows(page)).toHaveCount(2);
    await keyboard.press("Home");
    await expect(even).toBeFocused();
    await keyboard.press("c");
    await expect.poll(copied).toBe("test.even.v1");
    await keyboard.press("o");
    await expect(page).toHaveURL(/type=test\.even\.v1/);
    await expect(rows(page)).toHaveCount(2);
    await keyboard.press("Space");
    await expect(rows(page)).toHaveCount(4);
  });

  await test.step("a range of bars is selected, cleared and zoomed into", async () => {
    const bars = page.getByRole("slider", { name: /^Events over time/ });
    await tabTo(page, bars);
    await keyboard.press("End");
    await keyboard.press("Shift+ArrowLeft");
    await expect(page.getByRole("button", { name: "Zoom in" })).toBeVisible();
    await keyboard.press("Escape");
    await expect(page.getByRole("button", { name: "Zoom in" })).toBeHidden();
    await keyboard.press("Home");
    await keyboard.press("Shift+End");
    await keyboard.press("Shift+ArrowLeft");
    await expect(bars).toHaveAttribute("aria-valuetext", /, 4 events,/);
    await keyboard.press("Enter");
    await expect(page).toHaveURL(/from=20.*until=20/);
    await expect(rows(page)).toHaveCount(4);
  });

  await test.step("a column of the data is added, moved and made wider", async () => {
    await tabTo(page, page.getByRole("button", { name: "Columns", exact: true }), "Shift+Tab");
    await keyboard.press("Enter");
    await expect(page.getByLabel("Add a column")).toBeFocused();
    await keyboard.type("data.n\n");
    await expect(page).toHaveURL(/subject,data\.n,summary/);
    await keyboard.press("Escape");
    await keyboard.press("j");
    await expect(grid).toBeFocused();
    for (let i = 0; i < 6; i++) await keyboard.press("ArrowRight");
    await keyboard.press("Shift+ArrowLeft");
    await expect(page).toHaveURL(/source,data\.n,subject/);
    await keyboard.press(">");
    await expect(page).toHaveURL(/data\.n:\d+/);
    await keyboard.press("c");
    await expect.poll(copied).toBe("3");
  });

  await test.step("two events are compared, and one is found", async () => {
    await keyboard.press("x");
    await keyboard.press("j");
    await keyboard.press("x");
    await keyboard.press("=");
    const dialog = page.getByRole("dialog", { name: "Compare two events" });
    await expect(dialog.getByRole("rowheader", { name: "data.n" })).toBeVisible();
    await keyboard.press("Escape");
    await expect(grid).toBeFocused();
    await keyboard.press("f");
    await expect(page.getByRole("textbox", { name: "Find in results" })).toBeFocused();
    await keyboard.type(`${word}-1`);
    await expect(page.getByRole("search", { name: "Find in results" })).toContainText("1 in");
    await keyboard.press("Enter");
    await expect(rows(page).nth(2)).toHaveAttribute("aria-selected", "true");
    await keyboard.press("Escape");
    await expect(grid).toBeFocused();
    await keyboard.press("Escape");
    await expect(page.getByRole("region", { name: "Selected events" })).toBeHidden();
  });

  await test.step("an event is opened, copied, read and its surroundings are followed", async () => {
    await keyboard.press("Enter");
    await expect(drawer(page).getByRole("heading", { name: "test.odd.v1" })).toBeVisible();
    const tree = drawer(page).getByRole("tree", { name: "Data, as a tree" });
    await expect(tree).toBeVisible();
    await keyboard.press("Control+c");
    await expect.poll(async () => (await copied()).includes(`"subject": "${word}-1"`)).toBe(true);
    await tabTo(page, tree);
    await keyboard.press("End");
    await keyboard.press("c");
    await expect.poll(copied).toBe("1");
    await keyboard.press("Enter");
    await expect(page.getByRole("menuitem", { name: "Include" })).toBeVisible();
    await keyboard.press("Escape");
    await tabTo(page, drawer(page).getByRole("tab", { name: "Tree" }), "Shift+Tab");
    await keyboard.press("ArrowRight");
    await keyboard.press("ArrowRight");
    await expect(drawer(page).getByRole("region", { name: "Data, as received" })).toContainText(word);
    await tabTo(page, drawer(page).getByRole("button", { name: "Source", exact: true }));
    await keyboard.press("Enter");
    const around = drawer(page).getByRole("list", { name: /Events around it/ });
    await expect(around).toContainText("test.even.v1");
    await tabTo(page, around.getByRole("link").first());
    await keyboard.press("Enter");
    await expect(drawer(page)).toBeVisible();
    await keyboard.press("Escape");
    await expect(drawer(page)).toBeHidden();
  });

  await test.step("the search is saved, shared and exported", async () => {
    await tabTo(page, page.getByRole("button", { name: "Saved", exact: true }), "Shift+Tab");
    await keyboard.press("Enter");
    await tabTo(page, page.getByRole("button", { name: "Save this search…" }));
    await keyboard.press("Enter");
    await tabTo(page, page.getByLabel("Name", { exact: true }));
    await keyboard.type(`Keys ${word}\n`);
    await expect(page).toHaveURL(/saved=\d+@1/);

    await tabTo(page, page.getByRole("button", { name: "Share", exact: true }));
    await keyboard.press("Enter");
    const share = page.getByRole("dialog", { name: "Share this search" });
    await tabTo(page, share.getByLabel("Short link"));
    await keyboard.press("Space");
    await expect(share.getByLabel("Link", { exact: true })).toHaveValue(/\/s\//);
    await tabTo(page, share.getByRole("button", { name: "Copy link" }));
    await keyboard.press("Enter");
    await expect.poll(copied).toMatch(/\/s\/[a-z2-7]{20}/);
    await keyboard.press("Escape");
    await expect(share).toBeHidden();

    await tabTo(page, page.getByRole("button", { name: "Export", exact: true }));
    await keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Export events" });
    await expect(dialog).toContainText("4 events");
    await tabTo(page, dialog.getByRole("button", { name: "Export", exact: true }));
    const waiting = page.waitForEvent("download");
    await keyboard.press("Enter");
    await waiting;
    await expect(dialog).toContainText("4 events exported");
    await keyboard.press("Escape");
    await expect(dialog).toBeHidden();
  });
});
