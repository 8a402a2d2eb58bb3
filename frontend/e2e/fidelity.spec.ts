import type { Page } from "@playwright/test";
import { drawer, expect, openRow, test } from "./fixtures.ts";

function region(page: Page, name: string) {
  return page.getByRole("region", { name });
}

test("numbers, keys and escapes are shown as they were sent", async ({ page, api }) => {
  const body = String.raw`{"id":9007199254740993,"neg":-9222742375320771188,"f":1.0,"z":-0,"e":1E2,"b":1,"a":2,"b":3,"nul":"x\u0000y","six":"x\\u0000y","lone":"\ud800","pair":"\ud83d\ude00"}`;
  const sent = await api.send({ body });
  await page.goto(`${sent.path}&view=pretty`);
  const pretty = region(page, "Data, printed");
  for (const line of [
    `"id": 9007199254740993,`,
    `"neg": -9222742375320771188,`,
    `"f": 1.0,`,
    `"z": -0,`,
    `"e": 1E2,`,
    String.raw`"nul": "x\u0000y",`,
    String.raw`"six": "x\\u0000y",`,
    String.raw`"lone": "\ud800",`,
    String.raw`"pair": "\ud83d\ude00"`,
  ]) {
    await expect(pretty).toContainText(line);
  }
  await expect(pretty.getByText("duplicate key")).toHaveCount(1);
  await expect(pretty.getByText("exact", { exact: true })).toHaveCount(2);
  await page.getByRole("tab", { name: "Raw" }).click();
  const shown = (await region(page, "Data, as received").locator("[data-start]").allTextContents()).join("");
  expect(shown).toBe(body);
});

test("a selection across rows is copied as it was received", async ({ page, api, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const body = `{"text":"${"a long value without an end ".repeat(30)}"}`;
  const sent = await api.send({ body });
  await page.goto(sent.path);
  await page.getByRole("tab", { name: "Raw" }).click();
  const raw = region(page, "Data, as received");
  await expect(raw).toContainText("without an end");
  await raw.evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
  });
  await raw.focus();
  await page.keyboard.press("ControlOrMeta+c");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(body);
});

test("all of the page is copied with the characters that were sent, not with their names", async ({
  page,
  api,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const body = `first \u001b[32mopen\tdoor\u202e end\n${"a line that is long enough to be broken ".repeat(20)}\nlast\n`;
  const sent = await api.send({ contentType: "text/plain", subject: "a\u202eb", body });
  await page.goto(sent.path);
  await expect(region(page, "Data, as received")).toContainText("last");
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.press("ControlOrMeta+c");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toContain(body);
  expect(copied).toContain("a\u202eb");
  expect(copied).not.toMatch(/RLO|ESC|TAB|↵/);
});

test("control characters are visible and bytes that are no text are shown in hexadecimal", async ({
  page,
  api,
}) => {
  const text = await api.send({ contentType: "text/plain", body: "\u001b[32mopen\u0000\tdoor\r\n" });
  await page.goto(text.path);
  const shown = region(page, "Data, as received").locator("[data-glyph]");
  await expect(shown).toHaveCount(5);
  const names = () =>
    shown.evaluateAll((all) => all.map((glyph) => getComputedStyle(glyph, "::before").content));
  expect(await names()).toEqual(['"ESC"', '"NUL"', '"TAB"', '"CR"', '"↵"']);
  await page.getByRole("button", { name: "Hex" }).click();
  await expect(region(page, "Data, as received")).toContainText("1b 5b 33 32 6d 6f 70 65");

  const binary = await api.send({
    contentType: "image/jpeg",
    body: Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10]),
  });
  await page.goto(binary.path);
  await expect(region(page, "Data, as received")).toContainText("ff d8 ff e0 00 10");
  await page.getByRole("tab", { name: "Pretty" }).click();
  await expect(page.getByText("Bytes that are not text have no structure to show.")).toBeVisible();

  const broken = await api.send({
    body: Uint8Array.from([...Buffer.from(`{"a":"`), 0xff, ...Buffer.from(`"}`)]),
  });
  await page.goto(broken.path);
  await expect(page.getByText("application/json · malformed")).toBeVisible();
  await expect(region(page, "Data, as received")).toContainText("7b 22 61 22 3a 22 ff 22");
});

test("no data and zero bytes are told apart from each other", async ({ page, api }) => {
  const absent = await api.send({});
  await page.goto(absent.path);
  await expect(page.getByText("This event has no data, only attributes.")).toBeVisible();
  // Over HTTP zero bytes are no data; the demo's traffic has a structured event with an empty text.
  await page.goto("/explore?type=lab.oddity.empty-data.v1&from=-30d");
  await openRow(page, 0);
  await expect(drawer(page).getByText("The data is there and has zero bytes.")).toBeVisible();
});

/** How long the page is busy at most, from now until `until` has come true. */
async function longestFreeze(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(() => {
    const state = window as unknown as { longest: number };
    state.longest = 0;
    let last = performance.now();
    const tick = () => {
      const now = performance.now();
      state.longest = Math.max(state.longest, now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  await act();
  return page.evaluate(() => (window as unknown as { longest: number }).longest);
}

const megabyte = 1_048_576 - 2048;
const shapes: Record<string, string> = {
  "half a million short members": `[${"1,".repeat(megabyte / 2 - 8)}1]`,
  "one string": JSON.stringify({ s: "lorem ipsum ".repeat(Math.floor(megabyte / 12) - 8) }),
  "500 levels": `${'{"in":'.repeat(500)}"deepest"${"}".repeat(500)}`,
};

for (const [name, body] of Object.entries(shapes)) {
  test(`${name}: opens without a freeze, as a tree, printed and raw, to its end`, async ({ page, api }) => {
    const sent = await api.send({ body });
    await page.goto("/explore");
    const freeze = await longestFreeze(page, async () => {
      await page.evaluate((path) => {
        const [name, query] = path.replace("/events/", "").split("?");
        history.pushState({}, "", `/explore?event=${encodeURIComponent(name ?? "")}&${query}`);
        dispatchEvent(new PopStateEvent("popstate"));
      }, sent.path);
      const tree = drawer(page).getByRole("tree");
      await expect(tree.getByRole("treeitem").first()).toBeVisible({ timeout: 30_000 });
      await tree.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      await expect(tree.getByRole("treeitem").last()).toBeVisible();
      await drawer(page).getByRole("tab", { name: "Pretty" }).click();
      const pretty = drawer(page).getByRole("region", { name: "Data, printed" });
      await expect(pretty.locator("[data-start]").first()).toBeVisible({ timeout: 30_000 });
      await pretty.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      await expect(pretty).toContainText(body.at(-1) ?? "");
      await drawer(page).getByRole("tab", { name: "Raw" }).click();
      const raw = drawer(page).getByRole("region", { name: "Data, as received" });
      await expect(raw.locator("[data-start]").first()).toBeVisible();
      await raw.evaluate((element) => element.scrollTo({ top: element.scrollHeight }));
      await expect(raw).toContainText(body.slice(-8));
    });
    expect(freeze).toBeLessThan(2500);
  });
}
