import { drawer, expect, openRow, rows, settled, test, uniqueWord } from "./fixtures.ts";

test("the demo's events appear, newest first", async ({ page }) => {
  await page.goto("/");
  await expect(page).toHaveURL(/\/explore$/);
  await expect(page.getByText("demo", { exact: true })).toBeVisible();
  await expect(rows(page).first()).toBeVisible();
  expect(await rows(page).count()).toBeGreaterThan(10);
  const times = await rows(page).locator('[data-field="time"]').allTextContents();
  expect(times.slice(0, 10)).toEqual(times.slice(0, 10).toSorted().toReversed());
});

test("an event is found by a word, opened, and its raw text is what was sent; its address shows it again", async ({
  page,
  api,
  browser,
  baseURL,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const word = uniqueWord();
  const body = `{"note": "${word}",\n "id":9007199254740993, "b":1,"b":1.0, "nul":"x\\u0000y"}`;
  await api.send({ type: "test.found.v1", source: "/e2e/first", body });

  await page.goto("/explore");
  await expect(rows(page).first()).toBeVisible();
  await page.keyboard.press("/");
  await page.keyboard.type(word);
  await expect(page.getByText("not applied")).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByText("not applied")).toBeHidden();
  await expect(rows(page)).toHaveCount(1);
  await expect(page.getByRole("status").getByText("1 event", { exact: true })).toBeVisible();
  await openRow(page, 0);

  await expect(drawer(page).getByRole("heading", { name: "test.found.v1" })).toBeVisible();
  await drawer(page).getByRole("tab", { name: "Raw" }).click();
  const raw = drawer(page).getByRole("region", { name: "Data, as received" });
  await expect(raw).toContainText(`"note": "${word}",`);
  const shown = (await raw.locator("[data-start]").allTextContents()).join("");
  expect(shown).toBe(body);

  await drawer(page).getByRole("button", { name: "Copy" }).click();
  await page.getByRole("menuitem", { name: "Data as received" }).click();
  await expect(page.getByText("Copied the data")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(body);

  const download = page.waitForEvent("download");
  await drawer(page).getByRole("link", { name: "Raw" }).click();
  const stream = await (await download).createReadStream();
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk as Uint8Array);
  expect(Buffer.concat(chunks).toString("utf8")).toBe(body);

  const fresh = await browser.newContext({
    ...(baseURL && { baseURL }),
    viewport: { width: 1280, height: 800 },
  });
  const other = await fresh.newPage();
  await other.goto(page.url());
  await expect(rows(other)).toHaveCount(1);
  await expect(other.getByLabel("Words to find")).toHaveValue(word);
  await expect(drawer(other).getByRole("heading", { name: "test.found.v1" })).toBeVisible();
  await expect(rows(other).first()).toHaveAttribute("aria-selected", "true");
  await fresh.close();
});

test("the whole view is in the address: words, filters, window, zone and the open event", async ({
  page,
  api,
}) => {
  const word = uniqueWord();
  const time = new Date(Date.now() - 3_600_000).toISOString();
  await api.send({ type: "test.view.v1", source: "/e2e/view", time, body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}&source=/e2e/view&type!=test.other.v1&from=-2h&zone=Asia/Kolkata`);
  await openRow(page, 0);
  await expect(page).toHaveURL(/event=.*time=/);
  const url = page.url();

  await page.goto("about:blank");
  await page.goto(url);
  await settled(page);
  await expect(page.getByRole("button", { name: "Change filter: source is /e2e/view" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Change filter: type is not test.other.v1" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Last 2 hours" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Time zone: Asia/Kolkata" })).toBeVisible();
  await expect(drawer(page).getByTitle(/^received .* \+05:30$/)).toContainText("+05:30");
  expect(page.url()).toBe(url);
});

test("an event has a page of its own, whatever its source and id hold", async ({ page, api }) => {
  const word = uniqueWord();
  const sent = await api.send({
    source: "/e2e/a:b?c=%2F#漢",
    type: "test.page.v1",
    subject: "100% ü",
    body: `{"w":"${word}"}`,
  });
  await page.goto(sent.path);
  await expect(page.getByRole("heading", { name: "test.page.v1" })).toBeVisible();
  await expect(page.getByRole("definition").filter({ hasText: "/e2e/a:b?c=%2F#漢" }).first()).toBeVisible();
  await expect(page.getByRole("tree", { name: "Data, as a tree" })).toContainText(word);
  expect(new URL(page.url()).pathname).toBe(sent.path.split("?")[0]);

  await page.getByRole("button", { name: /^Time zone/ }).click();
  await page.getByRole("menuitemradio", { name: "Europe/Berlin" }).click();
  await expect(page).toHaveURL(/zone=Europe\/Berlin/);
  await expect(page.getByRole("heading", { name: "test.page.v1" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("heading", { name: "test.page.v1" })).toBeVisible();
  await page.getByRole("button", { name: "Around it" }).click();
  await expect(drawer(page).getByRole("heading", { name: "test.page.v1" })).toBeVisible();
});

test("what is at no address says so", async ({ page }) => {
  await page.goto("/nothing/here");
  await expect(page.getByRole("heading", { name: "Nothing is at this address" })).toBeVisible();
  await page.goto("/events/%2Fe2e:missing");
  await expect(page.getByText("There is no such event.")).toBeVisible();
  await expect(page.getByText(/req_/)).toBeVisible();
});

test("without a clipboard the older way copies, and where that is refused too the text is selected", async ({
  page,
  api,
}) => {
  const word = uniqueWord();
  const sent = await api.send({ body: `{"w":"${word}"}` });
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.goto(sent.path);
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("menuitem", { name: "Data as received" }).click();
  await expect(page.getByText("Copied the data")).toBeVisible();

  await page.evaluate(() => Object.defineProperty(document, "execCommand", { value: () => false }));
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("menuitem", { name: "Data as received" }).click();
  const dialog = page.getByRole("dialog", { name: "Not copied" });
  await expect(dialog.getByLabel("The text")).toHaveValue(`{"w":"${word}"}`);
  expect(await page.evaluate(() => getSelection()?.toString())).toBe(`{"w":"${word}"}`);
});
