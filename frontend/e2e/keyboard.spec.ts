import { drawer, expect, openRow, rows, test, uniqueWord } from "./fixtures.ts";

test("everything is done with the keyboard alone", async ({ page, api }) => {
  const word = uniqueWord();
  for (const type of ["test.one.v1", "test.two.v1", "test.three.v1"])
    await api.send({ type, body: `{"w":"${word}"}` });
  await page.goto("/explore");
  await expect(rows(page).first()).toBeVisible();

  await page.keyboard.press("/");
  await expect(page.getByLabel("Words to find")).toBeFocused();
  await page.keyboard.type(`${word}\n`);
  await expect(rows(page)).toHaveCount(3);

  // A query that was run leaves the focus to the list.
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect(rows(page).nth(1)).toHaveAttribute("aria-selected", "true");
  const grid = page.getByRole("grid", { name: "Events" });
  await expect(grid).toBeFocused();
  await expect(grid).toHaveAttribute("aria-activedescendant", "event-1");
  await page.keyboard.press("Enter");
  await expect(drawer(page).getByRole("heading", { name: "test.two.v1" })).toBeVisible();

  await page.keyboard.press("k");
  await expect(drawer(page).getByRole("heading", { name: "test.three.v1" })).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect(drawer(page).getByRole("heading", { name: "test.one.v1" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(drawer(page)).toBeHidden();
  await expect(rows(page).nth(2)).toHaveAttribute("aria-selected", "true");

  // The cell of the type is the third.
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  await expect(grid).toHaveAttribute("aria-activedescendant", "event-2-type");
  await page.keyboard.press("-");
  await expect(page.getByRole("button", { name: "Change filter: type is not test.one.v1" })).toBeVisible();
  await expect(rows(page)).toHaveCount(2);

  await page.keyboard.press("d");
  await expect(page.getByRole("dialog", { name: "Time window" })).toBeVisible();
  await expect(page.getByLabel("Window in words")).toBeFocused();
  await page.keyboard.type("last 15 minutes\n");
  await expect(page).toHaveURL(/from=-15m/);
  await expect(page.getByRole("button", { name: /^Last 15 minutes/ })).toBeFocused();

  // The breakdown of the cell's field, and back to where it came from.
  await expect(rows(page).first()).toBeVisible();
  await page.keyboard.press("j");
  await page.keyboard.press("b");
  const statistics = page.getByRole("dialog", { name: "Statistics of type" });
  await expect(statistics).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(statistics).toBeHidden();
});

test("the focus can be seen on every stop, and none is a trap", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await openRow(page, 0);
  await expect(drawer(page).getByRole("tree", { name: "Data, as a tree" })).toBeVisible();
  await page.locator("body").evaluate(() => (document.activeElement as HTMLElement | null)?.blur());

  const stops: string[] = [];
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return undefined;
      const ring = (node: Element | null): boolean => {
        for (let at = node; at; at = at.parentElement) {
          const style = getComputedStyle(at);
          if (style.outlineStyle !== "none" && style.outlineWidth !== "0px") return true;
          if (at !== node && !at.matches(":focus-within")) return false;
        }
        // The list shows its focus on the active row.
        const active = node?.getAttribute("aria-activedescendant");
        const row = active ? document.getElementById(active) : null;
        return row !== null && getComputedStyle(row).outlineStyle !== "none";
      };
      return `${element.tagName} ${element.getAttribute("aria-label") ?? element.textContent}: ${ring(element)}`;
    });
    if (stop === undefined) break;
    stops.push(stop);
  }
  expect(stops.length).toBeGreaterThan(10);
  expect(stops.length).toBeLessThan(60);
  expect(stops.filter((stop) => stop.endsWith("false"))).toEqual([]);
});

test("help lists the keys, and single letters can be switched off", async ({ page }) => {
  await page.goto("/explore");
  await expect(rows(page).first()).toBeVisible();
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard" });
  await help.getByLabel("Single letters are keys").uncheck();
  await page.keyboard.press("Escape");
  await expect(help).toBeHidden();
  await page.keyboard.press("j");
  await page.keyboard.press("/");
  await expect(page.getByLabel("Words to find")).not.toBeFocused();
  await page.reload();
  await expect(rows(page).first()).toBeVisible();
  await page.keyboard.press("?");
  await expect(help).toBeHidden();
  await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
  await help.getByLabel("Single letters are keys").check();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await expect(page.getByLabel("Words to find")).toBeFocused();
});

test("back closes an event that was opened, whatever was walked through", async ({ page, api }) => {
  const word = uniqueWord();
  for (let i = 0; i < 3; i++) await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(3);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.keyboard.press("j");
  await expect(drawer(page)).toBeVisible();
  await page.goBack();
  await expect(drawer(page)).toBeHidden();
  await expect(page).toHaveURL(new RegExp(`q=${word}$`));
});

test("the focus is never lost: from a chip to the next, from the words to the list", async ({ page }) => {
  await page.goto("/explore?type=a&source=b&subject=c");
  await expect(page.getByRole("heading", { name: "No events match" })).toBeVisible();
  await page.getByRole("button", { name: "Remove filter: type is a" }).click();
  await expect(page.getByRole("button", { name: "Change filter: source is b" })).toBeFocused();
  await page.keyboard.press("Delete");
  await expect(page.getByRole("button", { name: "Change filter: subject is c" })).toBeFocused();
  await page.keyboard.press("Backspace");
  await expect(page.getByRole("button", { name: "Filter", exact: true })).toBeFocused();
  await expect(page).toHaveURL(/\/explore$/);

  await page.keyboard.press("/");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("grid", { name: "Events" })).toBeFocused();
});

test("the first stop of the keyboard leads past the fields to the events", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  await page.keyboard.press("Tab");
  const skip = page.getByRole("button", { name: "Skip to the events" });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("grid", { name: "Events" })).toBeFocused();
});

test("Home and End go through the list, also where nothing has the focus yet", async ({ page, api }) => {
  const source = `/e2e/ends/${Date.now()}`;
  await api.sendMany(60, source);
  await page.goto(`/explore?source=${source}`);
  await expect(rows(page).first()).toBeVisible();
  await page.keyboard.press("End");
  await expect(page.locator('[data-index="59"]')).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Home");
  await expect(page.locator('[data-index="0"]')).toHaveAttribute("aria-selected", "true");
});

test("a value of the list is included, the only one, and copied by its keys; r takes a new snapshot", async ({
  page,
  api,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const word = uniqueWord();
  for (const type of ["test.one.v1", "test.two.v1"]) await api.send({ type, body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(2);
  await page.keyboard.press("j");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("c");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe("test.two.v1");
  await page.keyboard.press("+");
  await expect(page).toHaveURL(/type=test\.two\.v1/);
  await expect(rows(page)).toHaveCount(1);
  await page.goto(`/explore?q=${word}&type=test.one.v1&type=test.two.v1`);
  await expect(rows(page)).toHaveCount(2);
  await page.keyboard.press("j");
  for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("o");
  await expect(page).toHaveURL(new RegExp(`q=${word}&type=test\\.two\\.v1$`));

  await api.send({ type: "test.two.v1", body: `{"w":"${word}"}` });
  await expect(rows(page)).toHaveCount(1);
  await page.keyboard.press("r");
  await expect(rows(page)).toHaveCount(2);
});

test("Ctrl C copies the open event, unless a text is selected or written", async ({ page, api, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const word = uniqueWord();
  const { id, path } = await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(drawer(page).getByRole("tree", { name: "Data, as a tree" })).toBeVisible();
  await page.keyboard.press("ControlOrMeta+c");
  await expect(page.getByText("Copied the event as JSON")).toBeVisible();
  expect(JSON.parse(await copied())).toMatchObject({ id, data: { w: word } });

  await page.keyboard.press("/");
  await page.keyboard.press("ControlOrMeta+c");
  await expect.poll(copied).toBe(word);

  await page.goto(path);
  await expect(page.getByRole("tree", { name: "Data, as a tree" })).toBeVisible();
  await page.getByRole("heading", { name: "test.event.v1" }).evaluate((heading) => {
    getSelection()?.selectAllChildren(heading);
  });
  await page.keyboard.press("ControlOrMeta+c");
  await expect.poll(copied).toBe("test.event.v1");
  await page.evaluate(() => getSelection()?.removeAllRanges());
  await page.keyboard.press("ControlOrMeta+c");
  await expect.poll(async () => (await copied()).includes(id)).toBe(true);
});

test("help has the keys of each part of the page, and none that there is not", async ({ page }) => {
  await page.goto("/explore");
  await expect(rows(page).first()).toBeVisible();
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard" });
  await expect(help.getByRole("region").getByRole("heading")).toHaveText([
    "Query and time",
    "Rows",
    "The histogram",
    "The values of a field",
    "Find in results",
    "A filter that has the focus",
    "An open event",
    "The tree of an event's data",
    "Everywhere",
  ]);
  await expect(help.getByRole("region", { name: "The histogram" })).toContainText(
    "Select barsShift ←Shift →",
  );
  await expect(help.getByRole("region", { name: "The values of a field" })).toContainText(
    "Pick, leave aloneSpace",
  );
  await expect(help.getByRole("region", { name: "An open event" })).toContainText("Ctrl C");
  await expect(help).not.toContainText("Ctrl K");
  expect(await help.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true);
});
