// One hostile producer, and every page, dialog, menu and panel that shows what it wrote.
import type { Page } from "@playwright/test";
import { type Api, drawer, expect, openRow, readDemo, rows, settled, test, uniqueWord } from "./fixtures.ts";
import { markup, offences, unseen } from "./inert.ts";

test.describe.configure({ timeout: 120_000 });

const evil = `${markup} ${unseen}`;
const key = `${markup}"'${unseen}`;

/** Two events in a minute of their own, so that they are all that a page shows. */
async function hostile(api: Api) {
  const word = uniqueWord();
  const start = Math.floor(Date.now() / 60_000) * 60_000 - 86_400_000 * (3 + Math.floor(Math.random() * 9));
  const send = (second: number, more: string) =>
    api.send({
      type: evil,
      source: `javascript:alert('${word}')//${evil.replaceAll(" ", "%20")}`,
      subject: `data:text/html,${evil}`,
      time: new Date(start + second * 1000).toISOString(),
      contentType: `application/json; note="<script>alert(9)</script>"`,
      extensions: {
        note: evil,
        severity: evil,
        dataschema: "javascript:alert(5)",
        traceparent: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`,
      },
      body: JSON.stringify({
        w: word,
        [key]: evil,
        url: "javascript:alert(6)",
        deviceId: evil,
        personId: evil,
        roomId: evil,
        tags: [evil],
        nested: { [key]: { [key]: [evil, second] } },
        more,
      }),
    });
  const sent = await send(10, "one");
  await send(20, markup);
  const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();
  return { word, sent, source: sent.source, span: `from=${at(0)}&until=${at(60)}` };
}

const inert = async (page: Page, where: string) => expect(await offences(page), where).toEqual([]);

const field = `data.${JSON.stringify(key)}`;

test("the list and all that opens over it show a hostile producer's events as text", async ({
  page,
  api,
}) => {
  const { word, span } = await hostile(api);
  const cols = ["time", "severity", "type", "source", "subject", field, "ext.note", "dataschema", "summary"];
  const url = `/explore?q=${word}&${span}&split=type&cols=${cols.map(encodeURIComponent).join(",")}`;
  await page.goto(url);
  await expect(rows(page)).toHaveCount(2);
  await settled(page);
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^<script>.* 2 events. Include/ })).toBeVisible();
  await inert(page, "list, bars and facets");

  const first = rows(page).first();
  for (const name of ["type", "source", "subject", "ext.note"]) {
    await first.locator(`[data-field="${name}"]`).hover({ position: { x: 4, y: 8 } });
    await inert(page, `a cell of ${name}`);
  }
  const cell = first.locator('[data-field="type"]');
  await cell.hover({ position: { x: 4, y: 8 } });
  await cell.getByRole("button", { name: /^More for/ }).click();
  await expect(page.getByRole("menu")).toContainText("<script>");
  await inert(page, "the menu of a value");
  await page.keyboard.press("Escape");

  await page.getByRole("slider", { name: /^Events over time/ }).hover();
  await inert(page, "what a bar tells");
  await page.getByRole("columnheader").nth(5).getByRole("button").click();
  await inert(page, "the menu of a column");
  await page.getByRole("menuitem", { name: "Open breakdown" }).click();
  const statistics = page.getByRole("dialog", { name: /^Statistics of/ });
  await expect(statistics).toContainText("<script>");
  await inert(page, "statistics of a field");
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Columns", exact: true }).click();
  await page.getByLabel("Add a column").fill("data.");
  await expect(page.getByRole("list", { name: "Fields" }).getByRole("button").first()).toBeVisible();
  await inert(page, "the choice of columns");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^by type/ }).click();
  await inert(page, "the choice of what splits");
  await page.keyboard.press("Escape");
  await page.getByRole("searchbox", { name: "Find a field or value" }).fill("alert");
  await inert(page, "fields that were found");
  await page.getByRole("searchbox", { name: "Find a field or value" }).fill("");

  await page.getByLabel("Words to find").fill("type:<script");
  await expect(page.getByRole("option").first()).toBeVisible();
  await inert(page, "suggestions");
  for (let step = 0; step < 3; step++) await page.keyboard.press("Escape");
  await expect(page.getByRole("grid", { name: "Events" })).toBeFocused();

  for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
  await inert(page, "two that are selected");
  await page.keyboard.press("=");
  const compared = page.getByRole("dialog", { name: "Compare two events" });
  await expect(compared.getByRole("row").nth(1)).toBeVisible();
  await compared.getByRole("button", { name: /^All/ }).click();
  await expect(compared).toContainText("<script>");
  await inert(page, "comparing");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.keyboard.press("f");
  await page.keyboard.type("alert(1)");
  await expect(page.getByRole("search", { name: "Find in results" })).toContainText(/\d in/);
  await inert(page, "finding");
});

test("filters, the words of the query and every other parameter are text", async ({ page, api }) => {
  const { word, span } = await hostile(api);
  const coded = encodeURIComponent(evil);
  const named = encodeURIComponent(field);
  const filters = `type=${coded}&source!=${coded}&ext.note=${encodeURIComponent(JSON.stringify(evil))}`;
  await page.goto(
    `/explore?q=${word}&${filters}&${named}=${encodeURIComponent(JSON.stringify(evil))}&${span}&pin=type&off=subject%3D${coded}`,
  );
  await expect(rows(page)).toHaveCount(2);
  const chip = page.getByRole("button", { name: /^Change filter: type is <script>/ });
  await chip.click();
  await expect(page.getByRole("dialog").last()).toBeVisible();
  await inert(page, "a filter's form");
  await page.keyboard.press("Escape");
  await openRow(page, 0);
  await expect(drawer(page).getByRole("list", { name: "Filters of the search" })).toContainText("<script>");
  await inert(page, "filters around an event");

  await page.goto(`/explore?q=${encodeURIComponent(JSON.stringify(evil))}&${span}`);
  await expect(page.getByText("hidden characters")).toBeVisible();
  await settled(page);
  await expect(page).toHaveTitle(/^"<script>.*a\[RLO\]b\[ZWSP\]c/);
  await inert(page, "words");
  await page.goto(`/explore?q=${encodeURIComponent(`(${evil}`)}`);
  await expect(page.getByRole("alert").first()).toBeVisible();
  await inert(page, "a query that is refused");
  for (const odd of [
    "from",
    "zone",
    "split",
    "cols",
    "density",
    "saved",
    "event",
    "time",
    "pin",
    "off",
    evil,
  ]) {
    await page.goto(`/explore?${encodeURIComponent(odd)}=${coded}`);
    await expect(page.getByLabel("Words to find")).toBeVisible();
    await page.waitForLoadState("networkidle");
    await inert(page, `the parameter ${odd}`);
  }
});

test("an event's drawer and page show it as text, and none of its addresses is a link", async ({
  page,
  api,
}) => {
  const { word, sent, span } = await hostile(api);
  await page.goto(`/explore?q=${word}&${span}`);
  await openRow(page, 0);
  for (const place of ["drawer", "page"] as const) {
    if (place === "page") {
      await page.goto(sent.path);
      await expect(page).toHaveTitle(/^<script>.*\[RLO\]b/);
    }
    const tree = page.getByRole("tree", { name: "Data, as a tree" });
    await expect(tree).toContainText("<script>");
    await expect(page.getByRole("list", { name: /Events around it/ })).toContainText("<script>");
    await inert(page, place);
    await tree.getByRole("treeitem", { name: /^roomId/ }).click();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("menu")).toContainText("<script>");
    await inert(page, `${place}: the menu of a value`);
    await page.keyboard.press("Escape");
    await tree.getByRole("treeitem").filter({ hasText: "[ 2 ]" }).last().click();
    await page.keyboard.press("ContextMenu");
    await inert(page, `${place}: the menu of a part`);
    await page.getByRole("menuitem", { name: "Show this part alone" }).click();
    await inert(page, `${place}: a part alone`);
    for (const tab of ["Pretty", "Raw"]) {
      await page.getByRole("tab", { name: tab }).click();
      await expect(page.getByRole("region", { name: /^Data, / })).toContainText("<script>");
      await inert(page, `${place}: ${tab}`);
    }
    await page.getByRole("button", { name: "Hex", exact: true }).click();
    await inert(page, `${place}: hex`);
  }
  const text = page.getByText("javascript:alert(5)").first();
  await expect(text).toBeVisible();
  expect(await text.evaluate((element) => element.closest("a"))).toBeNull();
});

test("searches that are kept and shared under a hostile name, and the overview of its minute", async ({
  page,
  api,
  pageOf,
}) => {
  const { word, span } = await hostile(api);
  await page.goto(`/explore?q=${word}&${span}`);
  await expect(rows(page)).toHaveCount(2);
  await page.getByRole("button", { name: "Saved", exact: true }).click();
  await page.getByRole("button", { name: "Save this search…" }).click();
  const name = `${word} ${markup}`.slice(0, 120);
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page).toHaveURL(/saved=\d+@1/);
  await inert(page, "a saved search");
  await page.getByRole("button", { name: new RegExp(`^${word}`) }).click();
  const saved = page.getByRole("dialog", { name: "Saved searches" });
  await expect(saved).toContainText("<script>");
  await saved.getByRole("button", { name: "Share with the team" }).click();
  await expect(page).toHaveURL(/saved=\d+@2/);
  const other = await pageOf("operator");
  await other.goto("/explore");
  await other.getByRole("button", { name: "Saved", exact: true }).click();
  await expect(other.getByRole("dialog", { name: "Saved searches" })).toContainText(word);
  await inert(other, "another's saved search");

  await page.getByRole("button", { name: new RegExp(`^${word}`) }).click();
  await saved.getByRole("button", { name: "Delete…" }).click();
  await inert(page, "the question before it is deleted");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page).not.toHaveURL(/saved=/);

  await page.getByRole("button", { name: "Share", exact: true }).click();
  await expect(page.getByLabel("Link", { exact: true })).toHaveValue(/^http/);
  await inert(page, "sharing");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await inert(page, "exporting");
  await page.keyboard.press("Escape");

  await page.goto(`/overview?${span}`);
  await expect(page.getByText("<script>").first()).toBeVisible();
  await inert(page, "the overview");
});

test("what is copied and downloaded is exact, and no file name is the producer's", async ({
  page,
  api,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.addInitScript(() => Reflect.deleteProperty(window, "showSaveFilePicker"));
  const { word, sent, span } = await hostile(api);
  await page.goto(`/explore?q=${word}&${span}`);
  await expect(rows(page)).toHaveCount(2);
  for (let step = 0; step < 4; step++) await page.keyboard.press(step === 0 ? "j" : "ArrowRight");
  await page.keyboard.press("c");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(evil);

  await page.getByRole("button", { name: "Export", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Export events" });
  const read = async () => {
    const waiting = page.waitForEvent("download");
    await dialog.getByRole("button", { name: "Export", exact: true }).click();
    const download = await waiting;
    expect(download.suggestedFilename()).toMatch(/^oriel-events-[\dTZ]+\.(ndjson|csv)$/);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString("utf8");
  };
  const lines = (await read()).trimEnd().split("\n");
  expect(JSON.parse(lines[1] ?? "")).toMatchObject({
    type: evil,
    source: sent.source,
    extensions: { note: { value: evil } },
  });
  await dialog.getByRole("button", { name: "CSV" }).click();
  await dialog.getByLabel("Columns").fill("type, source, ext.note");
  expect(await read()).toContain(`${csv(evil)},${csv(sent.source)},${csv(evil)}\r\n`);
  await page.keyboard.press("Escape");

  await page.goto(sent.path);
  const waiting = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download raw" }).click();
  expect((await waiting).suggestedFilename()).toMatch(/^[\w.-]+$/);
});

const csv = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

test("paths and reasons in the address of other pages are text", async ({ pageOf }) => {
  const page = await pageOf("nobody");
  const coded = encodeURIComponent(evil);
  for (const path of [
    `/sign-in?error=${coded}&request=${coded}&return=${encodeURIComponent("javascript:alert(1)")}`,
    `/signed-out?${coded}`,
  ]) {
    await page.goto(path);
    await expect(page.locator("main, body > div").first()).toBeVisible();
    await inert(page, path);
  }
  const analyst = await pageOf("analyst");
  for (const path of [`/events/${coded}:${coded}?time=${coded}`, `/s/${coded}`, `/${coded}`, `/events/x`]) {
    await analyst.goto(path);
    await analyst.waitForLoadState("networkidle");
    await inert(analyst, path);
  }
});

test.describe("an admin", () => {
  test.use({ role: "admin" });

  test("sees hostile names and reasons as text, in tokens, the record and an event's operations", async ({
    page,
  }) => {
    const { url, operatorToken } = readDemo();
    const word = uniqueWord();
    const answer = await fetch(`${url}/v1/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
      body: JSON.stringify({
        displayName: `${word} ${markup}`.slice(0, 100),
        scopes: ["events:write"],
        sourcePrefixes: [`javascript:alert(1)//${markup}`],
        reason: `${word} ${markup}`,
      }),
    });
    expect(answer.status, await answer.clone().text()).toBe(200);
    await page.goto(`/admin/tokens?q=${word}`);
    await expect(page.getByRole("row").filter({ hasText: word })).toContainText("<script>");
    await inert(page, "tokens");
    await page.getByRole("button", { name: /^Revoke / }).click();
    await expect(page.getByRole("alertdialog")).toContainText("<script>");
    await inert(page, "revoking");
    await page.keyboard.press("Escape");
    await page.goto(`/admin/audit?q=${word}&target=${encodeURIComponent(evil)}`);
    await expect(page.getByRole("heading", { name: "No entries match" })).toBeVisible();
    await inert(page, "an empty record");
    await page.goto(`/admin/audit?q=${word}`);
    await page
      .getByRole("button", { name: /^token.create by / })
      .first()
      .click();
    await expect(page.getByRole("list", { name: "Before and after" })).toContainText("<script>");
    await inert(page, "the record");
  });
});
