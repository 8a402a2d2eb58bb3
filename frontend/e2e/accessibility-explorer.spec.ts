// Everything that opens in the explorer, in both themes and in one column, as axe sees it.
import type { Page } from "@playwright/test";
import { over, violations } from "./axe.ts";
import { type Api, drawer, expect, openRow, rows, settled, test, uniqueWord } from "./fixtures.ts";

// Axe reads each page whole, many times in a test.
test.describe.configure({ timeout: 240_000 });

const failure = {
  error: {
    code: 503,
    message: "The database does not answer.",
    status: "UNAVAILABLE",
    requestId: "req_test",
    details: [{ reason: "DATABASE_UNAVAILABLE", domain: "oriel", message: "", metadata: {} }],
  },
};

/** Events of every severity and of two types, with data of every kind. */
async function some(api: Api) {
  const [word, binary] = [uniqueWord(), uniqueWord()];
  const severities = ["trace", "debug", "info", "notice", "warning", "error", "critical", "emergency"];
  for (const [index, severity] of severities.entries()) {
    await api.send({
      type: index % 2 ? "test.odd.v1" : "test.even.v1",
      subject: `subject-${index}`,
      extensions: { severity, traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
      body: `{"w":"${word}","n":${index},"n":9007199254740993,"s":"a\\u0000b","none":null,"deep":{"list":[true,{}]}}`,
    });
  }
  await api.send({
    contentType: "application/octet-stream",
    body: Uint8Array.from([0, 255, 7]),
    subject: binary,
  });
  return { word, binary };
}

async function clean(page: Page, where: string, part?: string): Promise<void> {
  expect.soft(await violations(page, part), where).toEqual([]);
}

const panel = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name });

async function ready(page: Page, count: number): Promise<void> {
  await expect(rows(page)).toHaveCount(count);
  await settled(page);
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
}

for (const theme of ["dark", "light"] as const) {
  test.describe(theme, () => {
    test.use({ colorScheme: theme });

    test("the list, its bars and its fields, and what opens over them", async ({ page, api }) => {
      const { word } = await some(api);
      await page.goto(
        `/explore?q=${word}&split=type&type!=x&off=subject%3Dy&pin=type!&severity=trace&cols=time,severity,type,data.n,subject,summary`,
      );
      await ready(page, 8);
      await clean(page, "the list");

      const bars = page.getByRole("slider", { name: /^Events over time/ });
      await bars.focus();
      await page.keyboard.press("End");
      await page.keyboard.press("Shift+ArrowLeft");
      await expect(page.getByRole("button", { name: "Zoom in" })).toBeVisible();
      await clean(page, "a part of the bars that is selected");
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^by type/ }).click();
      await clean(page, "what may split the bars", over);
      await page.keyboard.press("Escape");

      await page.getByRole("button", { name: "Statistics of type" }).click();
      await expect(panel(page, "Statistics of type")).toContainText("most frequent");
      await clean(page, "statistics", over);
      await page.keyboard.press("Escape");
      await page.getByRole("searchbox", { name: "Find a field or value" }).fill("odd");
      await clean(page, "a value that was looked for");
      await page.getByRole("searchbox", { name: "Find a field or value" }).fill("");

      await page.getByRole("columnheader").nth(3).getByRole("button").click();
      await expect(page.getByRole("menu")).toBeVisible();
      await clean(page, "the menu of a column", over);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Columns", exact: true }).click();
      await expect(panel(page, "Columns and rows")).toBeVisible();
      await clean(page, "columns", over);
      await page.keyboard.press("Escape");

      const cell = rows(page).first().locator('[data-field="type"]');
      await cell.hover();
      await cell.getByRole("button", { name: /^More for/ }).click();
      await clean(page, "the menu of a value", over);
      await page.keyboard.press("Escape");

      for (const key of ["j", "x", "j", "x", "="]) await page.keyboard.press(key);
      await expect(panel(page, "Compare two events").getByRole("row").nth(1)).toBeVisible();
      await clean(page, "two events compared", over);
      await page.keyboard.press("Escape");
      await clean(page, "two events selected");
      await page.keyboard.press("Escape");
      await page.keyboard.press("f");
      await page.keyboard.type("odd");
      await expect(page.getByRole("search", { name: "Find in results" })).toContainText(/\d in/);
      await clean(page, "find in results");
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await expect(panel(page, "Keyboard")).toBeVisible();
      await clean(page, "the keys", over);
    });

    test("what is asked: the words, the filters, the window and the zone", async ({ page, api }) => {
      const { word } = await some(api);
      await page.goto(`/explore?q=${word}&type=test.odd.v1`);
      await ready(page, 4);
      await page.getByLabel("Words to find").fill(`${word} sever`);
      await expect(page.getByRole("option").first()).toBeVisible();
      await clean(page, "suggestions", over);
      await page.keyboard.press("Escape");
      await page.getByLabel("Words to find").fill(`${word} (x`);
      await page.keyboard.press("Enter");
      await expect(page.getByText("The last results stay below.")).toBeVisible();
      await clean(page, "a query that was refused");
      await page.goto(`/explore?q=${word}&type=test.odd.v1`);
      await page.getByRole("button", { name: /^Change filter: type/ }).click();
      await expect(page.getByRole("button", { name: "Negate" })).toBeVisible();
      await clean(page, "a filter's menu", over);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await expect(panel(page, "Add a filter").getByRole("button", { name: "Add" })).toBeVisible();
      await clean(page, "a new filter", over);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: /^Last 24 hours/ }).click();
      await page.getByLabel("Window in words").fill("yesterday");
      await clean(page, "the window", over);
    });

    test("what is done with a search: kept, shared, exported", async ({ page, api }) => {
      const { word } = await some(api);
      await page.addInitScript(() => Reflect.deleteProperty(window, "showSaveFilePicker"));
      await page.goto(`/explore?q=${word}`);
      await ready(page, 8);
      await page.getByRole("button", { name: "Saved", exact: true }).click();
      await page.getByRole("button", { name: "Save this search…" }).click();
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await clean(page, "a name that is missing", over);
      await page.getByLabel("Name", { exact: true }).fill(word);
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await expect(page).toHaveURL(/saved=\d+@1/);
      await page.getByRole("button", { name: new RegExp(`^${word}`) }).click();
      await expect(panel(page, "Saved searches").getByRole("button", { name: "Delete…" })).toBeVisible();
      await clean(page, "saved searches", over);
      await panel(page, "Saved searches").getByRole("button", { name: "Delete…" }).click();
      await clean(page, "the question before one is deleted", over);
      await page.getByRole("alertdialog").getByRole("button", { name: "Delete", exact: true }).click();
      await expect(page).not.toHaveURL(/saved=/);
      await page.getByRole("button", { name: "Share", exact: true }).click();
      await panel(page, "Share this search").getByLabel("Short link").check();
      await expect(page.getByLabel("Link", { exact: true })).toHaveValue(/\/s\//);
      await clean(page, "sharing", over);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Export", exact: true }).click();
      const dialog = panel(page, "Export events");
      await dialog.getByRole("button", { name: "CSV" }).click();
      await dialog.getByLabel("Columns").fill("nonsense.field");
      await dialog.getByRole("button", { name: "Export", exact: true }).click();
      await expect(dialog.getByText(/nonsense/).last()).toBeVisible();
      await clean(page, "an export that was refused", over);
      await dialog.getByLabel("Columns").fill("time");
      await dialog.getByRole("button", { name: "Export", exact: true }).click();
      await expect(dialog).toContainText("8 events exported");
      await clean(page, "an export", over);
    });

    test("an event in every form of its data, and what was around it", async ({ page, api }) => {
      const { word, binary } = await some(api);
      await page.goto(`/explore?q=${word}`);
      await openRow(page, 0);
      const tree = drawer(page).getByRole("tree", { name: "Data, as a tree" });
      await expect(tree).toContainText("9007199254740993");
      await tree.getByRole("treeitem").filter({ hasText: "deep" }).click();
      await page.keyboard.press("ContextMenu");
      await clean(page, "the menu of a part of the data", over);
      await page.getByRole("menuitem", { name: "Show this part alone" }).click();
      await clean(page, "a part alone");
      await drawer(page).getByRole("button", { name: "Show all" }).click();
      for (const tab of ["Pretty", "Raw"]) {
        await drawer(page).getByRole("tab", { name: tab }).click();
        await expect(drawer(page).getByRole("region", { name: /^Data, / })).toContainText(word);
        await clean(page, tab);
      }
      await drawer(page).getByRole("button", { name: "Hex", exact: true }).click();
      await clean(page, "hex");
      for (const by of ["Source", "Trace", "All"]) {
        await drawer(page).getByRole("button", { name: by, exact: true }).click();
        await expect(drawer(page).getByRole("list", { name: /Events around it/ })).toBeVisible();
      }
      await clean(page, "surroundings");
      await page.goto(`/explore?subject=${binary}`);
      await openRow(page, 0);
      await expect(drawer(page).getByRole("region", { name: /Data, / })).toBeVisible();
      await clean(page, "data that is no text");
      await drawer(page).getByRole("link", { name: "Open as page" }).click();
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      await clean(page, "the page of an event");
      await page.goto("/events/x:y");
      await expect(page.getByRole("alert")).toBeVisible();
      await clean(page, "an event that is not there");
    });

    test("what is empty, failed or old, and the overview", async ({ page, api }) => {
      const { word } = await some(api);
      await page.goto(`/explore?q=${word}zzz&type=x`);
      await expect(page.getByRole("heading", { name: "No events match" })).toBeVisible();
      await clean(page, "nothing found");
      await page.goto(`/explore?q=${word}&nonsense=1&cols=time,data..x`);
      await ready(page, 8);
      await clean(page, "a parameter that there is not");
      await page.route("**/v1/events:histogram*", (route) => route.fulfill({ status: 503, json: failure }));
      await page.route("**/v1/events:facets*", (route) => route.fulfill({ status: 503, json: failure }));
      await page.route("**/v1/events:count*", (route) => route.fulfill({ status: 503, json: failure }));
      await page.goto(`/explore?q=${word}`);
      await expect(page.getByText("The histogram was not made.")).toBeVisible();
      await clean(page, "numbers that could not be had");
      await page.route("**/v1/events?*", (route) => route.fulfill({ status: 503, json: failure }));
      await page.getByRole("button", { name: /New snapshot/ }).click();
      await expect(page.getByText(/^Shown as of/)).toBeVisible();
      await clean(page, "rows of an earlier answer");
      await page.goto(`/explore?q=${word}`);
      await expect(page.getByText("The search failed.")).toBeVisible();
      await clean(page, "no rows at all");
      await page.goto("/overview");
      await expect(page.getByRole("region", { name: "Pipeline" })).toContainText(/behind|lag not known/);
      await clean(page, "the overview without its numbers");
      await page.unrouteAll();
      await page.goto("/overview");
      await expect(
        page.getByRole("region", { name: "Severity mix" }).getByRole("link").first(),
      ).toBeVisible();
      await page.getByRole("button", { name: /^Last 24 hours/ }).click();
      await clean(page, "the overview and its window");
    });

    test.describe("at 390 px", () => {
      test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

      test("every page and sheet", async ({ page, api }) => {
        const { word } = await some(api);
        await page.goto(`/explore?q=${word}&type!=x&cols=time,severity,type,data.n,summary`);
        await ready(page, 8);
        await clean(page, "the list");
        await page.getByRole("button", { name: "Filters" }).tap();
        await expect(panel(page, "Filters").getByRole("checkbox").first()).toBeVisible();
        await clean(page, "fields", over);
        await page.getByRole("button", { name: "Statistics of type" }).tap();
        await expect(panel(page, "Statistics of type")).toContainText("most frequent");
        await clean(page, "statistics", over);
        await page.keyboard.press("Escape");
        await page.keyboard.press("Escape");
        const more = async (item: string) => {
          await page.getByRole("button", { name: "More", exact: true }).tap();
          if (item === "Columns and rows") await clean(page, "more", over);
          await page.getByRole("menuitem", { name: item }).tap();
        };
        await more("Columns and rows");
        await expect(panel(page, "Columns and rows")).toBeVisible();
        await clean(page, "columns", over);
        await panel(page, "Columns and rows").getByRole("button", { name: "Done" }).tap();
        for (const [item, name] of [
          ["Saved searches…", "Saved searches"],
          ["Share…", "Share this search"],
          ["Export…", "Export events"],
        ] as const) {
          await more(item);
          await expect(panel(page, name)).toBeVisible();
          await clean(page, name, over);
          await page.keyboard.press("Escape");
          await expect(panel(page, name)).toBeHidden();
        }
        await more("Find in results");
        await clean(page, "find in results");
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: /^Last 24 hours/ }).tap();
        await clean(page, "the window", over);
        await page.keyboard.press("Escape");
        await rows(page).first().tap();
        await expect(panel(page, "Event").getByRole("tree")).toContainText(word);
        await clean(page, "an event");
        await page.goto("/overview");
        await expect(
          page.getByRole("region", { name: "Severity mix" }).getByRole("link").first(),
        ).toBeVisible();
        await clean(page, "the overview");
      });
    });
  });
}
