import type { Download, Page } from "@playwright/test";
import { expect, rows, test, uniqueWord } from "./fixtures.ts";

const panel = (page: Page, name: string) => page.getByRole("dialog", { name, exact: true });

async function textOf(download: Download): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

test("a search is saved, edited, saved again, renamed, shared and deleted", async ({ page, api, pageOf }) => {
  const word = uniqueWord();
  await api.send({ type: "test.saved.v1", body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}&density=dense`);
  await expect(rows(page)).toHaveCount(1);

  await page.getByRole("button", { name: "Saved", exact: true }).click();
  await panel(page, "Saved searches").getByRole("button", { name: "Save this search…" }).click();
  await page.getByLabel("Name", { exact: true }).fill(`Tea ${word}`);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page).toHaveURL(/saved=\d+@1/);
  const button = page.getByRole("button", { name: new RegExp(`^Tea ${word}`) });
  await expect(button).not.toContainText("edited");

  // Edits win over what is saved, also as the page is read again.
  await page.goto(page.url().replace("density=dense", "density=roomy"));
  await expect(button).toContainText("edited");
  await button.click();
  await panel(page, "Saved searches").getByRole("button", { name: "Save", exact: true }).click();
  await expect(page).toHaveURL(/saved=\d+@2/);
  await expect(button).not.toContainText("edited");

  await button.click();
  await panel(page, "Saved searches").getByRole("button", { name: "Share with the team" }).click();
  await expect(page).toHaveURL(/saved=\d+@3/);
  const other = await pageOf("operator");
  await other.goto("/explore?type=x&pin=type");
  await other.getByRole("button", { name: "Saved", exact: true }).click();
  await panel(other, "Saved searches")
    .getByRole("button", { name: new RegExp(`^Tea ${word}`) })
    .click();
  await expect(other).toHaveURL(new RegExp(`q=${word}&type=x&pin=type.*density=roomy`));

  await button.click();
  await panel(page, "Saved searches").getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page).not.toHaveURL(/saved=/);
  await expect(rows(page)).toHaveCount(1);
});

test("what somebody saved meanwhile is not overwritten unasked", async ({ page, context }) => {
  const word = uniqueWord();
  await page.goto(`/explore?q=${word}`);
  await page.getByRole("button", { name: "Saved", exact: true }).click();
  await page.getByRole("button", { name: "Save this search…" }).click();
  await page.getByLabel("Name", { exact: true }).fill(`Mine ${word}`);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page).toHaveURL(/saved=\d+@1/);

  const second = await context.newPage();
  await second.goto(`${page.url()}&density=dense`);
  const save = async (on: Page) => {
    await on.getByRole("button", { name: new RegExp(`^Mine ${word}`) }).click();
    await panel(on, "Saved searches").getByRole("button", { name: "Save", exact: true }).click();
  };
  await save(second);
  await expect(second).toHaveURL(/saved=\d+@2/);

  await page.goto(`${page.url()}&density=roomy`);
  await expect(page.getByText("newer version")).toBeVisible();
  await save(page);
  const refused = page.getByRole("alertdialog", { name: "Somebody changed it meanwhile" });
  await expect(refused).toContainText("VERSION_CONFLICT");
  await refused.getByRole("button", { name: "Save over it" }).click();
  await expect(page).toHaveURL(/saved=\d+@3/);
  await expect(page).toHaveURL(/density=roomy/);
});

test("a link has fixed times unless it is to roll on, and can be short", async ({ page, api, pageOf }) => {
  const word = uniqueWord();
  await api.send({ type: "test.shared.v1", body: `{"w":"${word}"}` });
  // Copying works without the newer way.
  await page.addInitScript(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.goto(`/explore?q=${word}&from=-1h&density=dense`);
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole("button", { name: "Share", exact: true }).click();
  const share = panel(page, "Share this search");
  const link = share.getByLabel("Link", { exact: true });
  await expect(link).toHaveValue(/from=\d{4}-[^&]*&until=\d{4}-[^&]*&density=dense/);
  await share.getByRole("button", { name: "Rolling" }).click();
  await expect(link).toHaveValue(/from=-1h&density=dense$/);
  await share.getByRole("button", { name: "Fixed times" }).click();
  await share.getByLabel("Short link").check();
  await expect(link).toHaveValue(/\/s\/[a-z2-7]{20}\?density=dense$/);
  const address = await link.inputValue();
  await share.getByRole("button", { name: "Copy link" }).click();
  await expect(page.getByText("Copied the link")).toBeVisible();

  const other = await pageOf("operator");
  await other.goto(address);
  await expect(rows(other)).toHaveCount(1);
  await expect(other).toHaveURL(/\/explore\?.*until=\d{4}.*density=dense/);
});

test.describe("an export", () => {
  // The dialog for a file is the browser's own, which no test can answer.
  test.beforeEach(({ page }) =>
    page.addInitScript(() => Reflect.deleteProperty(window, "showSaveFilePicker")),
  );

  test("is all that the search finds, exact, and says how much it was", async ({ page, api }) => {
    const source = `/e2e/export/${uniqueWord()}`;
    await api.sendMany(250, source);
    await page.goto(`/explore?source=${encodeURIComponent(source)}`);
    await expect(rows(page).first()).toBeVisible();
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const dialog = panel(page, "Export events");
    await expect(dialog).toContainText("250 events");
    let waiting = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Export", exact: true }).click();
    const lines = (await textOf(await waiting)).trimEnd().split("\n");
    expect(lines).toHaveLength(252);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ trailer: { complete: true, count: 250 } });
    await expect(dialog).toContainText("250 events exported");

    await dialog.getByRole("button", { name: "CSV" }).click();
    await dialog.getByLabel("Columns").fill("id, nonsense.field");
    await dialog.getByRole("button", { name: "Export", exact: true }).click();
    await expect(dialog.getByText(/nonsense/).last()).toBeVisible();
    await dialog.getByLabel("Columns").fill("time, data.index");
    waiting = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Export", exact: true }).click();
    const table = (await textOf(await waiting)).trimEnd().split("\r\n");
    expect(table[0]).toBe("time,data.index");
    expect(table).toHaveLength(251);
    expect(table[1]).toMatch(/,249$/);
  });

  test("that is cut is named .partial and says so", async ({ page }) => {
    await page.route("**/v1/events:export?**", (route) =>
      route.fulfill({
        contentType: "application/x-ndjson",
        body: '{"header":{}}\n{"id":"1"}\n{"trailer":{"complete":false,"count":1,"reason":"SNAPSHOT_EXPIRED"}}\n',
      }),
    );
    await page.goto("/explore");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const dialog = panel(page, "Export events");
    const waiting = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Export", exact: true }).click();
    expect((await waiting).suggestedFilename()).toMatch(/^oriel-events-\d{8}T\d{6}Z\.ndjson\.partial$/);
    await expect(dialog.getByRole("alert")).toContainText("cut after 1 event");
    await expect(dialog.getByRole("alert")).toContainText("SNAPSHOT_EXPIRED");
  });
});
