import type { Locator, Page } from "@playwright/test";
import { type Api, drawer, expect, openRow, rows, settled, test, uniqueWord } from "./fixtures.ts";

const minute = 60_000;

/** An hour that is over, and in it an event every ten minutes. */
async function anHour(api: Api, draft: (index: number) => Parameters<Api["send"]>[0] = () => ({})) {
  const word = uniqueWord();
  const start = Math.floor(Date.now() / minute) * minute - 120 * minute;
  for (let index = 0; index < 6; index++) {
    const time = new Date(start + (index * 10 + 5) * minute).toISOString();
    await api.send({ time, body: `{"w":"${word}","n":${index}}`, ...draft(index) });
  }
  const at = (minutes: number) => new Date(start + minutes * minute).toISOString().replace(".000Z", "Z");
  return { word, at, path: `/explore?q=${word}&from=${at(0)}&until=${at(60)}` };
}

const bars = (page: Page) => page.getByRole("slider", { name: /^Events over time/ });
const total = (page: Page) => page.getByRole("region", { name: "Results" }).getByRole("status").first();
const fields = (page: Page) => page.getByRole("complementary", { name: "Fields" });

function group(page: Page, field: string): Locator {
  return page.getByRole("region", { name: field, exact: true });
}

function value(page: Page, field: string, name: string): Locator {
  return group(page, field).getByRole("checkbox", { name: new RegExp(`^${name},`) });
}

/** The bars are drawn of the search that the page shows. */
async function counted(page: Page): Promise<void> {
  await settled(page);
  await expect(bars(page)).toBeVisible();
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
}

async function acrossBars(page: Page, from: number, to: number, release = true): Promise<void> {
  const box = await bars(page).boundingBox();
  if (!box) throw new Error("the bars are not shown");
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * ((from + to) / 2), y);
  await page.mouse.move(box.x + box.width * to, y);
  if (release) await page.mouse.up();
}

test("rows, total, bars and facets tell one number", async ({ page, api }) => {
  const { path } = await anHour(api, (index) => ({ extensions: { severity: index < 2 ? "error" : "info" } }));
  await page.goto(path);
  await counted(page);
  await expect(rows(page)).toHaveCount(6);
  await expect(total(page)).toHaveText("6 events");
  await expect(value(page, "severity", "error")).toHaveAccessibleName("error, 2 events");
  await expect(value(page, "severity", "info")).toHaveAccessibleName("info, 4 events");
  await expect(page.getByRole("button", { name: /^error 2 events. Include/ })).toBeVisible();
  await bars(page).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+End");
  await expect(bars(page)).toHaveAttribute("aria-valuetext", /, 6 events, error 2, info 4$/);
});

test("a severity picks the events that it counts, and no worse ones", async ({ page, api }) => {
  const { path } = await anHour(api, (index) => ({
    extensions: { severity: index < 2 ? "error" : index < 5 ? "info" : "critical" },
  }));
  await page.goto(path);
  await counted(page);
  await value(page, "severity", "info").click();
  await expect(total(page)).toHaveText("3 events");
  await expect(page.getByRole("button", { name: "Change filter: severity is info" })).toBeVisible();
  await value(page, "severity", "critical").click();
  await expect(total(page)).toHaveText("4 events");
  await value(page, "severity", "info").click();
  await expect(total(page)).toHaveText("1 event");
  await expect(page).toHaveURL(/q!=-severity:critical/);
});

test("a drag over the bars zooms into them, and one step back zooms out again", async ({ page, api }) => {
  const { path, at } = await anHour(api);
  await page.goto(path);
  await counted(page);
  await acrossBars(page, 0.505, 0.99, false);
  await expect(page.getByText("release to zoom")).toBeVisible();
  await page.mouse.up();
  await expect(page).toHaveURL(new RegExp(`from=${at(30)}&until=${at(60)}`));
  await expect(rows(page)).toHaveCount(3);
  await expect(total(page)).toHaveText("3 events");
  await page.goBack();
  await expect(rows(page)).toHaveCount(6);
});

test("zoomed in, it is what the bars counted: what was stored since waits to be asked for", async ({
  page,
  api,
}) => {
  const { word, path, at } = await anHour(api);
  await page.goto(path);
  await counted(page);
  await api.send({ time: at(45), body: JSON.stringify({ word }) });
  await acrossBars(page, 0.505, 0.99);
  await expect(total(page)).toHaveText("3 events");
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole("button", { name: "New snapshot" }).click();
  await expect(total(page)).toHaveText("4 events");
});

test("Escape takes a drag back while the button is held", async ({ page, api }) => {
  const { path } = await anHour(api);
  await page.goto(path);
  await counted(page);
  const url = page.url();
  await acrossBars(page, 0.3, 0.6, false);
  await expect(page.getByText("release to zoom")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText("release to zoom")).toBeHidden();
  await page.mouse.up();
  expect(page.url()).toBe(url);
});

test("the bars are walked, selected and zoomed into with the keyboard", async ({ page, api }) => {
  const { path, at } = await anHour(api);
  await page.goto(path);
  await counted(page);
  await bars(page).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowRight");
  for (let step = 0; step < 9; step++) await page.keyboard.press("Shift+ArrowLeft");
  await expect(bars(page)).toHaveAttribute("aria-valuetext", /, 1 event,/);
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Zoom in" })).toBeHidden();
  for (let step = 0; step < 9; step++) await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`from=${at(50)}&until=${at(60)}`));
  await expect(rows(page)).toHaveCount(1);
});

test("a click selects a bar, which outlives a new snapshot; Escape closes an event first, then clears it", async ({
  page,
  api,
}) => {
  const { path } = await anHour(api);
  await page.goto(path);
  await counted(page);
  const box = await bars(page).boundingBox();
  if (!box) throw new Error("the bars are not shown");
  await bars(page).click({ position: { x: box.width * (25.5 / 60), y: 30 } });
  const zoom = page.getByRole("button", { name: "Zoom in" });
  await expect(zoom).toBeVisible();
  await page.getByRole("button", { name: "New snapshot" }).click();
  await counted(page);
  await expect(zoom).toBeVisible();
  await openRow(page, 5);
  await expect(drawer(page)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(drawer(page)).toBeHidden();
  await expect(zoom).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(zoom).toBeHidden();
});

test("a double click zooms out", async ({ page, api }) => {
  const { word, at } = await anHour(api);
  await page.goto(`/explore?q=${word}&from=${at(20)}&until=${at(40)}`);
  await counted(page);
  await expect(rows(page)).toHaveCount(2);
  await bars(page).dblclick({ position: { x: 40, y: 30 } });
  await expect(rows(page)).toHaveCount(4);
});

test("the bars are split by a field, which the address keeps, or by none", async ({ page, api }) => {
  const { path } = await anHour(api, (index) => ({ type: index < 4 ? "test.a.v1" : "test.b.v1" }));
  await page.goto(path);
  await counted(page);
  await page.getByRole("button", { name: /^Split/ }).click();
  await page.getByRole("menuitemradio", { name: "type", exact: true }).click();
  await expect(page).toHaveURL(/split=type/);
  const legend = page.getByRole("button", { name: /^test.b.v1 2 events. Include/ });
  await expect(legend).toBeVisible();
  await page.reload();
  await legend.click();
  await expect(rows(page)).toHaveCount(2);
  await page.getByRole("button", { name: "by type" }).click();
  await page.getByRole("menuitemradio", { name: "Not split" }).click();
  await expect(page).toHaveURL(/split=none/);
});

test("the histogram is hidden and shown, and the browser remembers it", async ({ page }) => {
  await page.goto("/explore");
  await counted(page);
  await page.getByRole("button", { name: "Hide the histogram" }).click();
  await expect(bars(page)).toBeHidden();
  await page.reload();
  await expect(rows(page).first()).toBeVisible();
  await expect(bars(page)).toBeHidden();
  await page.getByRole("button", { name: "Show the histogram" }).click();
  await expect(bars(page)).toBeVisible();
});

const failure = {
  error: {
    code: 500,
    message: "Something failed on our side.",
    status: "INTERNAL",
    requestId: "req_test",
    details: [{ reason: "INTERNAL", domain: "oriel", message: "", metadata: {} }],
  },
};

test("a histogram that fails leaves rows, total and facets alone, and is asked for again alone", async ({
  page,
  api,
}) => {
  const { path } = await anHour(api);
  await page.route("**/v1/events:histogram*", (route) => route.fulfill({ status: 500, json: failure }));
  await page.goto(path);
  await expect(page.getByRole("alert")).toContainText("The histogram was not made.");
  await expect(rows(page)).toHaveCount(6);
  await expect(total(page)).toHaveText("6 events");
  await expect(value(page, "type", "test.event.v1")).toHaveAccessibleName("test.event.v1, 6 events");
  await page.unroute("**/v1/events:histogram*");
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).pathname));
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
  await expect(bars(page)).toBeVisible();
  expect(asked.filter((path) => path.startsWith("/v1/events"))).toEqual(["/v1/events:histogram"]);
});

test("facets that fail leave rows and bars alone", async ({ page, api }) => {
  const { path } = await anHour(api);
  await page.route("**/v1/events:facets*", (route) => route.fulfill({ status: 500, json: failure }));
  await page.goto(path);
  await expect(fields(page).getByRole("alert")).toContainText("Nothing was counted.");
  await expect(rows(page)).toHaveCount(6);
  await expect(bars(page)).toBeVisible();
});

test("several values are picked and one kept out, and the counts beside them stay", async ({ page, api }) => {
  const kinds = ["test.a.v1", "test.b.v1", "test.b.v1", "test.c.v1", "test.c.v1", "test.c.v1"];
  const { path } = await anHour(api, (index) => ({ type: kinds[index] ?? "" }));
  await page.goto(path);
  await counted(page);
  const names = group(page, "type").getByRole("checkbox");
  const before = ["test.c.v1, 3 events", "test.b.v1, 2 events", "test.a.v1, 1 events"];
  const said = () => names.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  expect(await said()).toEqual(before);

  await value(page, "type", "test.a.v1").click();
  await expect(rows(page)).toHaveCount(1);
  await value(page, "type", "test.b.v1").click();
  await expect(rows(page)).toHaveCount(3);
  await expect(page).toHaveURL(/type=test\.a\.v1&type=test\.b\.v1/);
  await counted(page);
  expect(await said()).toEqual(before);
  await expect(value(page, "type", "test.b.v1")).toBeChecked();
  await expect(value(page, "type", "test.c.v1")).not.toBeChecked();

  await value(page, "type", "test.b.v1").click();
  await value(page, "type", "test.a.v1").click();
  await expect(rows(page)).toHaveCount(6);
  await value(page, "type", "test.c.v1").hover();
  await group(page, "type").getByRole("button", { name: "Exclude: type test.c.v1" }).click();
  await expect(rows(page)).toHaveCount(3);
  await expect(value(page, "type", "test.c.v1")).toHaveAccessibleName("test.c.v1, 3 events, excluded");
  await value(page, "type", "test.c.v1").click();
  await expect(rows(page)).toHaveCount(6);
});

test("values are picked, kept out and left alone with the keyboard", async ({ page, api }) => {
  const { path } = await anHour(api, (index) => ({ type: index < 4 ? "test.a.v1" : "test.b.v1" }));
  await page.goto(path);
  await counted(page);
  await value(page, "type", "test.a.v1").focus();
  await page.keyboard.press("ArrowDown");
  await expect(value(page, "type", "test.b.v1")).toBeFocused();
  await page.keyboard.press("Space");
  await expect(rows(page)).toHaveCount(2);
  await expect(value(page, "type", "test.b.v1")).toBeFocused();
  await page.keyboard.press("-");
  await expect(rows(page)).toHaveCount(4);
  await page.keyboard.press("o");
  await expect(page).toHaveURL(/type=test\.b\.v1/);
  await expect(rows(page)).toHaveCount(2);
});

test("a value is found in a facet of many, and picked", async ({ page, api }) => {
  const word = uniqueWord();
  for (let index = 0; index < 12; index++) {
    await api.send({ subject: `part-${String(index).padStart(2, "0")}`, body: `{"w":"${word}"}` });
  }
  await page.goto(`/explore?q=${word}`);
  await counted(page);
  await group(page, "subject").getByRole("button", { name: "Find a value" }).click();
  const search = group(page, "subject").getByRole("searchbox", { name: "Find a value of subject" });
  await expect(search).toBeFocused();
  await search.fill("T-07");
  await expect(group(page, "subject").getByRole("checkbox")).toHaveCount(1);
  await value(page, "subject", "part-07").click();
  await expect(rows(page)).toHaveCount(1);
  await search.focus();
  await page.keyboard.press("Escape");
  await expect(search).toBeHidden();
});

test("a field of the data is found, its statistics say of how many events, and it is kept on top", async ({
  page,
  api,
}) => {
  const { path } = await anHour(api);
  await page.goto(path);
  await counted(page);
  await fields(page).getByRole("searchbox", { name: "Find a field or value" }).fill("data.n");
  const field = fields(page).getByRole("button", { name: "data.n", exact: true });
  const panel = page.getByRole("dialog", { name: "Statistics of data.n" });
  await field.click();
  await expect(panel).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(field).toBeFocused();
  await field.click();
  await expect(panel).toContainText("Of all 6 events of the search.");
  await expect(panel.getByRole("definition").filter({ hasText: "number" })).toBeVisible();
  await expect(panel).toContainText("Largest number5");
  await panel.getByRole("button", { name: "Pin" }).click();
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
  await fields(page).getByRole("searchbox", { name: "Find a field or value" }).fill("");
  await page.reload();
  await value(page, "data.n", "4").click();
  await expect(rows(page)).toHaveCount(1);
  await expect(page).toHaveURL(/data\.n=4/);
  await value(page, "data.n", "3").click();
  await expect(rows(page)).toHaveCount(2);
  await expect(page).toHaveURL(/data\.n=4&data\.n=3/);
});

test("counts of a sample say so, and of how many events", async ({ page, api }) => {
  const { path } = await anHour(api);
  await page.route("**/v1/events:facets*", async (route) => {
    const answer = await (await route.fetch()).json();
    const facets = (answer as { facets: { field: string }[] }).facets.map((facet) =>
      facet.field === "type" ? { ...facet, relation: "sampled", sample: 10_000 } : facet,
    );
    await route.fulfill({ json: { ...answer, facets } });
  });
  await page.goto(path);
  await expect(group(page, "type")).toContainText("sample 10,000");
  await expect(group(page, "source")).toContainText("exact");
});

test("a histogram of a part of the window says from when on it counts, and zooms no further back", async ({
  page,
  api,
}) => {
  const { path, at } = await anHour(api);
  const from = at(20).replace(":00Z", ":30Z");
  await page.route("**/v1/events:histogram*", async (route) => {
    const answer = (await (await route.fetch()).json()) as { total: object; buckets: object[] };
    const partly = { ...answer.total, relation: "atLeast", covered: { from, until: at(60) } };
    await route.fulfill({ json: { ...answer, total: partly, buckets: answer.buckets.slice(20) } });
  });
  await page.goto(path);
  await expect(page.getByText(`newest 6, since ${from.slice(11, 19)}`)).toBeVisible();
  await bars(page).focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`from=${from}&until=${at(21)}`));
});

test("newer events are counted where they wait, and loaded by a press", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  await api.send({ body: `{"w":"${word}"}` });
  await api.send({ body: `{"w":"${word}"}` });
  const newer = page.getByRole("button", { name: "2 newer: new snapshot" });
  await expect(newer).toBeVisible({ timeout: 30_000 });
  await expect(rows(page)).toHaveCount(1);
  await newer.click();
  await expect(rows(page)).toHaveCount(3);
  await expect(newer).toBeHidden();
});

test("the fields are hidden and shown", async ({ page }) => {
  await page.goto("/explore");
  await fields(page).getByRole("button", { name: "Hide the fields" }).click();
  await expect(fields(page)).toBeHidden();
  await page.reload();
  await expect(rows(page).first()).toBeVisible();
  await page.getByRole("button", { name: "Fields", exact: true }).click();
  await expect(fields(page)).toBeVisible();
});

test.describe("in one column", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test("values are picked in a sheet that says how many events are left", async ({ page, api }) => {
    const { path } = await anHour(api, (index) => ({ type: index < 4 ? "test.a.v1" : "test.b.v1" }));
    await page.goto(path);
    await expect(rows(page)).toHaveCount(6);
    await page.getByRole("button", { name: "Filters" }).tap();
    const sheet = page.getByRole("dialog", { name: "Filters" });
    await value(page, "type", "test.b.v1").tap();
    await sheet.getByRole("button", { name: "Show 2" }).tap();
    await expect(sheet).toBeHidden();
    await expect(rows(page)).toHaveCount(2);
    await expect(page.getByRole("button", { name: "Filters" })).toBeFocused();
  });

  test("a tap on a bar tells of it and offers to zoom", async ({ page, api }) => {
    const { path, at } = await anHour(api);
    await page.goto(path);
    await expect(rows(page)).toHaveCount(6);
    const box = await bars(page).boundingBox();
    if (!box) throw new Error("the bars are not shown");
    await bars(page).tap({ position: { x: box.width * (25.5 / 60), y: 30 } });
    await page.getByRole("button", { name: "Zoom in" }).tap();
    await expect(page).toHaveURL(new RegExp(`from=${at(25)}&until=${at(26)}`));
    await expect(rows(page)).toHaveCount(1);
  });
});
