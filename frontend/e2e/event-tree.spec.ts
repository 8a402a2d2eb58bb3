import type { Page } from "@playwright/test";
import { expect, openRow, rows, settled, test, uniqueWord } from "./fixtures.ts";

function tree(page: Page) {
  return page.getByRole("tree", { name: "Data, as a tree" });
}

/** Puts the cursor of the tree on the leaf whose text has this in it. */
async function stand(page: Page, text: string): Promise<void> {
  await tree(page).getByRole("treeitem").filter({ hasText: text }).last().click();
}

test("the tree shows every token as it was sent and marks what another program would lose", async ({
  page,
  api,
}) => {
  const body = String.raw`{"id":9007199254740993,"neg":-9222742375320771188,"f":1.0,"z":-0,"e":1E2,"b":1,"a":2,"b":3,"nul":"x\u0000y","six":"x\\u0000y","lone":"\ud800","pair":"\ud83d\ude00"}`;
  const sent = await api.send({ body });
  await page.goto(sent.path);
  await expect(tree(page).getByRole("treeitem")).toHaveText([
    "{ 12 }",
    "id: 9007199254740993exact",
    "neg: -9222742375320771188exact",
    "f: 1.0",
    "z: -0",
    "e: 1E2",
    "b: 1",
    "a: 2",
    "b: 3duplicate key",
    String.raw`nul: "x\u0000y"`,
    String.raw`six: "x\\u0000y"`,
    String.raw`lone: "\ud800"`,
    String.raw`pair: "\ud83d\ude00"`,
  ]);
  await expect(page.getByText("One key repeats an earlier one of the same object.")).toBeVisible();
});

test("every value finds its event when it is clicked, and only equal ones beside it", async ({
  page,
  api,
}) => {
  // Many searches, one after the other.
  test.slow();
  const word = uniqueWord();
  const send = (rest: string) => api.send({ body: `{"w":"${word}",${rest}}` });
  await send(
    String.raw`"id":9007199254740993,"z":-0,"e":1E2,"code":"007","yes":true,"no":null,"empty":"","nul":"x\u0000y","lit":"x\\u0000y","lone":"\ud800","emoji":"\ud83d\ude00","a.b":{"c \"d\"":"(x OR y)"},"items":[{"sku":"one*"}],"k":"-5","k":"null"`,
  );
  await send(
    String.raw`"id":9007199254740992,"z":1,"e":1,"code":"07","yes":false,"no":"null","empty":"x","nul":"xy","lit":"x","lone":"x","emoji":"x","a.b":{"c \"d\"":"x"},"items":[{"sku":"one-two"}],"k":-5,"k":null`,
  );
  const leaves = [
    "id:",
    "z:",
    "e:",
    "code:",
    "yes:",
    "no:",
    "empty:",
    "nul:",
    "lit:",
    "lone:",
    "emoji:",
    "sku:",
    "k:",
  ];
  for (const leaf of [...leaves, "(x OR y)", '"-5"']) {
    await page.goto(`/explore?data.w=${word}&from=-1h`);
    await expect(rows(page)).toHaveCount(2);
    await openRow(page, 1);
    await stand(page, leaf);
    await page.keyboard.press("+");
    await settled(page);
    await expect(rows(page), `after a click on ${leaf}`).toHaveCount(1);
    await expect(page.getByRole("alert")).toHaveCount(0);
    await expect(tree(page)).toContainText("9007199254740993");
  }
});

test("a value is excluded by mouse, and the other one is left", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}","amount":249.90}` });
  await api.send({ body: `{"w":"${word}","amount":249.9}` });
  await api.send({ body: `{"w":"${word}","amount":250}` });
  await page.goto(`/explore?data.w=${word}&from=-1h`);
  await openRow(page, 2);
  await tree(page)
    .getByRole("treeitem", { name: /^amount/ })
    .hover();
  await tree(page).getByRole("button", { name: "Exclude: data.amount 249.90" }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first()).toContainText("250");
});

test("values, their source and their paths are copied exactly", async ({ page, api, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const pick = async (row: string, item: string) => {
    await stand(page, row);
    await page.keyboard.press("ContextMenu");
    await page.getByRole("menuitem", { name: new RegExp(`^${item}`) }).click();
    await expect(page.getByRole("status").filter({ hasText: "Copied" })).toBeVisible();
  };
  const sent = await api.send({
    body: String.raw`{"n":9007199254740993,"list":[{"a b":"x\u0000\"y"}, [ 1.0 ,2]]}`,
  });
  await page.goto(sent.path);
  await pick("9007199254740993", "Copy value");
  expect(await copied()).toBe("9007199254740993");
  await pick("a b", "Copy value");
  expect(await copied()).toBe('x\u0000"y');
  await pick("a b", "Copy as received");
  expect(await copied()).toBe(String.raw`"x\u0000\"y"`);
  await pick("a b", "Copy path");
  expect(await copied()).toBe('data.list[0]."a b"');
  await stand(page, "1: [ 2 ]");
  await page.keyboard.press("c");
  await expect.poll(copied).toBe("[ 1.0 ,2]");
});

test("the tree is walked, folded and narrowed to a part with the keyboard", async ({ page, api }) => {
  const sent = await api.send({ body: `{"one":{"two":{"three":[1,2,3]},"other":"x"},"last":true}` });
  await page.goto(sent.path);
  const items = tree(page).getByRole("treeitem");
  await expect(items).toHaveCount(9);
  const active = () =>
    tree(page).evaluate((element) => {
      const row = document.getElementById(element.getAttribute("aria-activedescendant") ?? "");
      return row?.textContent?.replace(/only$/, "");
    });
  await tree(page).focus();
  expect(await active()).toBe("{ 2 }");
  await page.keyboard.press("ArrowDown");
  expect(await active()).toBe("one: { 2 }");
  await page.keyboard.press("ArrowLeft");
  await expect(items).toHaveCount(3);
  await expect(items.nth(1)).toHaveAttribute("aria-expanded", "false");
  await page.keyboard.press("ArrowRight");
  await expect(items).toHaveCount(9);
  await page.keyboard.press("ArrowRight");
  expect(await active()).toBe("two: { 1 }");
  await page.keyboard.press("End");
  expect(await active()).toBe("last: true");
  await page.keyboard.press("ArrowLeft");
  expect(await active()).toBe("{ 2 }");

  await stand(page, "two: { 1 }");
  // The click has closed it.
  await expect(items).toHaveCount(5);
  await page.keyboard.press("ContextMenu");
  await page.getByRole("menuitem", { name: "Show this part alone" }).click();
  await expect(items).toHaveCount(5);
  await expect(items.first()).toHaveText("two: { 1 }");
  const place = page.getByRole("navigation", { name: "Place in the data" });
  await expect(place).toContainText("one");
  await place.getByRole("button", { name: "one" }).click();
  await expect(items.first()).toContainText("one: { 2 }");
  await place.getByRole("button", { name: "Show all" }).click();
  await expect(items).toHaveCount(9);
});

test("a string of more than 8 KiB ends early until all of it is asked for", async ({ page, api }) => {
  const sent = await api.send({ body: `{"long":"${"0123456789".repeat(2000)}END","next":1}` });
  await page.goto(sent.path);
  await expect(tree(page)).not.toContainText("END");
  await expect(tree(page)).toContainText("next: 1");
  await tree(page).getByText("Show all 20,003 characters").click();
  await tree(page).evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
  await expect(tree(page)).toContainText('END"');
  await page.getByRole("tab", { name: "Pretty" }).click();
  await page.getByRole("button", { name: "Show all 20,003 characters" }).click();
  const printed = page.getByRole("region", { name: "Data, printed" });
  await printed.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
  await expect(printed).toContainText('END"');
});

test("data as deep as is taken opens to its end, and a path too long to search by says so", async ({
  page,
  api,
}) => {
  const sent = await api.send({ body: `${"[".repeat(512)}"deepest"${"]".repeat(512)}` });
  await page.goto(sent.path);
  await tree(page).focus();
  await page.keyboard.press("ContextMenu");
  await page.getByRole("menuitem", { name: "Open all of it" }).click();
  await tree(page).focus();
  await page.keyboard.press("End");
  await expect(tree(page)).toContainText('512 0: "deepest"');
  await page.keyboard.press("ContextMenu");
  await expect(page.getByRole("menu")).toContainText("The path is too long to search by.");
});
