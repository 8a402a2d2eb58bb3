// What is asked of the events: the query bar, the chips, the window and the zone of every time.
import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, rows, settled, test, uniqueWord } from "./fixtures.ts";

const bar = (page: Page) => page.getByLabel("Words to find");
const suggestions = (page: Page) => page.getByRole("listbox", { name: "Suggestions" });
const chip = (page: Page, name: string) => page.getByRole("button", { name: `Change filter: ${name}` });

test("a query is completed and run with the keyboard alone", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ subject: `s-${word}`, extensions: { severity: "error" }, body: `{"w":"${word}"}` });
  await api.send({ subject: `s-${word}`, body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(2);
  await page.keyboard.press("/");
  await expect(bar(page)).toBeFocused();
  await page.keyboard.press("End");
  await page.keyboard.type(" severi");
  await expect(suggestions(page).getByRole("option").first()).toContainText("severity");
  await page.keyboard.press("Tab");
  await expect(bar(page)).toHaveValue(`${word} severity:`);
  await expect(page.getByText("not applied")).toBeVisible();

  await page.keyboard.type("err");
  const error = suggestions(page).getByRole("option", { name: "error", exact: false }).first();
  await expect(error).toBeVisible();
  await page.keyboard.press("ArrowDown");
  await expect(error).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(bar(page)).toHaveValue(`${word} severity:error`);
  await expect(suggestions(page)).toBeHidden();
  await expect(rows(page)).toHaveCount(2);
  await page.keyboard.press("Enter");
  await expect(rows(page)).toHaveCount(1);
  await expect(page).toHaveURL(new RegExp(`q=${word}%20severity:error`));
});

test("values of a field are suggested from what has been stored", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ type: `test.${word}.v1` });
  await page.goto("/explore");
  await settled(page);
  await bar(page).fill(`type:test.${word.slice(0, 12)}`);
  const option = suggestions(page).getByRole("option", { name: `test.${word}.v1` });
  await option.click();
  await expect(bar(page)).toBeFocused();
  await expect(bar(page)).toHaveValue(new RegExp(`^type:test\\.${word}\\.v1 ?$`));
  await page.keyboard.press("Enter");
  await expect(rows(page)).toHaveCount(1);
});

test("mistakes are underlined where they stand, named with their character, and mended", async ({
  page,
  api,
}) => {
  const word = uniqueWord();
  await api.send({ type: "test.mended.v1", body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  await bar(page).fill(`😀 ${word} tyep:test.mended.v1 (x`);
  await page.keyboard.press("Enter");
  const underlined = page.locator("[data-paint] .decoration-wavy");
  await expect(underlined).toHaveText(["tyep", "("]);
  const place = word.length + 4;
  await expect(page.getByText(`Character ${place}:`)).toBeVisible();
  await expect(page.getByText("The last results stay below.")).toBeVisible();
  await expect(bar(page)).toBeFocused();
  await expect(rows(page)).toHaveCount(1);

  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(suggestions(page).getByRole("option", { selected: true })).toContainText("instead of tyep");
  await page.keyboard.press("Enter");
  await expect(bar(page)).toHaveValue(`😀 ${word} type:test.mended.v1 (x`);
  // It was edited: what the server said is of another text.
  await expect(underlined).toHaveCount(0);
  await bar(page).fill(`${word} type:test.mended.v1`);
  await page.keyboard.press("Enter");
  await expect(rows(page)).toHaveCount(1);
  await expect(bar(page)).toHaveAttribute("aria-invalid", "false");
});

test("earlier queries come back with Up, in another tab of the person too, and are offered in an empty bar", async ({
  page,
  context,
}) => {
  const [first, second] = [uniqueWord(), uniqueWord()];
  await page.goto("/explore");
  await settled(page);
  for (const query of [first, second]) {
    await bar(page).fill(query);
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(new RegExp(`q=${query}`));
  }
  const other = await context.newPage();
  await other.goto("/explore");
  await settled(other);
  await other.keyboard.press("/");
  await expect(suggestions(other).getByRole("option", { name: second })).toBeVisible();
  await other.keyboard.press("ArrowUp");
  await expect(bar(other)).toHaveValue(second);
  await other.keyboard.press("ArrowUp");
  await expect(bar(other)).toHaveValue(first);
  await other.keyboard.press("ArrowDown");
  await other.keyboard.press("ArrowDown");
  await expect(bar(other)).toHaveValue("");
  await other.keyboard.press("ArrowUp");
  await other.keyboard.press("Enter");
  await expect(other).toHaveURL(new RegExp(`q=${second}`));
  await other.close();
});

test("a chip is negated, disabled, pinned and copied from its menu and by its keys", async ({
  page,
  api,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const word = uniqueWord();
  for (const subject of ["s-1", "s 2"]) await api.send({ subject, body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}&subject=s%202&type=test.event.v1`);
  await expect(rows(page)).toHaveCount(1);

  await chip(page, "subject is s 2").click();
  await page.getByRole("button", { name: "Negate" }).click();
  await expect(chip(page, "subject is not s 2")).toBeVisible();
  await expect(rows(page).first()).toContainText("s-1");
  await expect(page).toHaveURL(/subject!=s%202/);

  await chip(page, "subject is not s 2").focus();
  await page.keyboard.press("Space");
  await expect(chip(page, "subject is not s 2, disabled")).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  await expect(page).toHaveURL(/off=subject!%3Ds%202/);
  await chip(page, "subject is not s 2, disabled").focus();
  await page.keyboard.press("p");
  await expect(page).toHaveURL(/pin=subject!/);
  await page.reload();
  await expect(chip(page, "subject is not s 2, disabled, pinned")).toBeVisible();

  await chip(page, "subject is not s 2, disabled, pinned").focus();
  await page.keyboard.press("c");
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('-subject:"s 2"');
  await page.getByRole("button", { name: "Clear" }).click();
  await expect(chip(page, "type is test.event.v1")).toBeHidden();
  await expect(chip(page, "subject is not s 2, disabled, pinned")).toBeVisible();
});

test("null, empty and absent are three filters, each of which finds its own event", async ({ page, api }) => {
  const word = uniqueWord();
  const bodies = { null: '{"v":null,', empty: '{"v":"",', absent: "{", text: '{"v":"null",' };
  for (const [kind, start] of Object.entries(bodies)) {
    await api.send({ subject: kind, body: `${start}"w":"${word}"}` });
  }
  const finds = async (filter: string, name: string, subject: string) => {
    await page.goto(`/explore?q=${word}&${filter}`);
    await expect(chip(page, name)).toBeVisible();
    await expect(rows(page)).toHaveCount(1);
    await expect(rows(page).first()).toContainText(subject);
  };
  await finds("data.v=null", "data.v is null", "null");
  await finds("data.v=%22%22", 'data.v is ""', "empty");
  await finds("data.v!=*", "data.v is absent", "absent");
  await finds("data.v=%22null%22", 'data.v is "null"', "text");
});

test("a filter is written on any field of the data", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ subject: "dear", body: `{"w":"${word}","price":9007199254740993}` });
  await api.send({ subject: "cheap", body: `{"w":"${word}","price":9007199254740992}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(2);
  await page.keyboard.press("Alt+f");
  const form = page.getByRole("dialog", { name: "Add a filter" });
  await form.getByRole("combobox", { name: "Field" }).fill("data.price");
  await form.getByLabel("Values, one on each line").fill("9007199254740993");
  await form.getByRole("button", { name: "Add" }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first()).toContainText("dear");

  await page.keyboard.press("Alt+f");
  await form.getByRole("combobox", { name: "Field" }).fill("subject");
  await form.getByLabel("Asks").selectOption("is absent");
  await form.getByRole("button", { name: "Add" }).click();
  await expect(chip(page, "subject is absent")).toBeVisible();
  await expect(page.getByRole("heading", { name: "No events match" })).toBeVisible();
  await page.getByRole("button", { name: "Remove filter: subject is absent" }).click();
  await page.getByRole("button", { name: "Remove filter: data.price is 9007199254740993" }).click();
  await expect(rows(page)).toHaveCount(2);

  await page.keyboard.press("Alt+f");
  await form.getByRole("combobox", { name: "Field" }).fill("data.price");
  await form.getByLabel("Asks").selectOption("> more than");
  await form.getByLabel("Number").fill("9007199254740992");
  await form.getByRole("button", { name: "Add" }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first()).toContainText("dear");
  await chip(page, "data.price > 9007199254740992").click();
  const change = page.getByRole("dialog", { name: "Filter: data.price" });
  await change.getByLabel("Asks").selectOption("≤ at most");
  await change.getByRole("button", { name: "Change" }).click();
  await expect(chip(page, "data.price ≤ 9007199254740992")).toBeVisible();
  await expect(rows(page).first()).toContainText("cheap");
  await page.getByRole("button", { name: /^Remove filter: data.price/ }).click();

  await page.keyboard.press("Alt+f");
  await form.getByRole("combobox", { name: "Field" }).fill("subject");
  await form.getByLabel("Asks").selectOption("contains");
  await form.getByLabel("Part of the value").fill("HEA");
  await form.getByRole("button", { name: "Add" }).click();
  await expect(chip(page, "subject contains HEA")).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first()).toContainText("cheap");
});

test("a filter takes a value that events have", async ({ page, api }) => {
  const word = uniqueWord();
  for (const value of ["one", "two"])
    await api.send({ subject: value, body: `{"${word}":"${value} of them"}` });
  await page.goto("/explore");
  await settled(page);
  await page.keyboard.press("Alt+f");
  const form = page.getByRole("dialog", { name: "Add a filter" });
  await form.getByRole("combobox", { name: "Field" }).fill(`data.${word}`);
  await form
    .getByRole("list", { name: `Values of data.${word}` })
    .getByText("two of them")
    .click();
  await form.getByRole("button", { name: "Add" }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first()).toContainText("two");
});

test("a window is written in words, and its dates stand there before it is applied", async ({ page }) => {
  await page.goto("/explore?zone=Asia/Kolkata");
  await settled(page);
  await page.keyboard.press("d");
  const picker = page.getByRole("dialog", { name: "Time window" });
  const words = picker.getByLabel("Window in words");
  await expect(words).toBeFocused();
  await words.fill("the day after");
  await page.keyboard.press("Enter");
  await expect(words).toHaveAttribute("aria-invalid", "true");
  await words.fill("20 nov 2026 5:30 to 6:30 am");
  await expect(picker).toContainText("20 Nov 05:30:00 – 06:30:00 Asia/Kolkata (+05:30), 1 hour");
  await page.keyboard.press("Enter");
  await expect(picker).toBeHidden();
  await expect(page).toHaveURL(/from=2026-11-20T00:00:00Z&until=2026-11-20T01:00:00Z/);

  await page.keyboard.press("d");
  await words.fill("past 2 hours");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/from=-2h(&|$)/);
  await expect(page.getByRole("button", { name: /^Last 2 hours since \d/ })).toBeVisible();
});

test("one zone rules every time that is shown, and is in the address", async ({ page, api }) => {
  const word = uniqueWord();
  const time = new Date(Date.now() - 60_000).toISOString();
  await api.send({ time, body: `{"w":"${word}"}` });
  const at = (zone: string) =>
    new Date(time).toLocaleTimeString("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first()).toContainText(at("UTC"));

  await page.keyboard.press("d");
  const picker = page.getByRole("dialog", { name: "Time window" });
  await picker.getByRole("button", { name: "Browser" }).click();
  await expect(page).toHaveURL(/zone=Europe\/Berlin/);
  await expect(rows(page).first()).toContainText(at("Europe/Berlin"));
  await picker.getByRole("button", { name: "Named…" }).click();
  await picker.getByLabel("Name of the zone").fill("asia/kolkata");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/zone=Asia\/Kolkata/);
  await page.keyboard.press("Escape");
  await expect(rows(page).first()).toContainText(at("Asia/Kolkata"));
  await rows(page).first().click();
  await expect(page.getByText(/\+05:30/).first()).toBeVisible();

  await page.getByRole("button", { name: "Time zone: Asia/Kolkata" }).click();
  await page.getByRole("menuitem", { name: "Another…" }).click();
  await page.getByLabel("Name of the zone").fill("St Johns");
  await page.getByRole("button", { name: "Use" }).click();
  await expect(rows(page).first()).toContainText(at("America/St_Johns"));

  // The choice holds where an address names no zone, and goes into it; one that names another wins.
  await page.goto(`/explore?q=${word}`);
  await expect(page).toHaveURL(/zone=America\/St_Johns/);
  await expect(rows(page).first()).toContainText(at("America/St_Johns"));
  await page.goto(`/explore?q=${word}&zone=Asia/Tokyo`);
  await expect(rows(page).first()).toContainText(at("Asia/Tokyo"));
  await page.getByRole("button", { name: "Time zone: Asia/Tokyo" }).click();
  await page.getByRole("menuitem", { name: "Another…" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Time zone: Asia/Tokyo" }).click();
  await page.getByRole("menuitemradio", { name: "UTC" }).click();
  await expect(page).not.toHaveURL(/zone=/);
  await expect(rows(page).first()).toContainText(at("UTC"));
});

for (const theme of ["dark", "light"] as const) {
  test(`what opens over the page is accessible, ${theme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    const check = async () => {
      const { violations } = await new AxeBuilder({ page })
        .include("[role=search]")
        .include("[role=toolbar]")
        .analyze();
      expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([]);
    };
    await page.goto("/explore?subject!=x&off=tag=hot&data.v=null&q!=noise&pin=tag&sauce=x&arrivedFrom=-1h");
    await settled(page);
    await bar(page).fill("sev");
    await expect(suggestions(page)).toBeVisible();
    await page.keyboard.press("ArrowDown");
    await check();
    await bar(page).fill("tyep:x");
    await page.keyboard.press("Enter");
    await expect(page.getByText("Character 1:")).toBeVisible();
    await check();
    await page.keyboard.press("Escape");
    await expect(page.getByText("Character 1:")).toBeHidden();
    await chip(page, "data.v is null").click();
    await expect(page.getByRole("combobox", { name: "Field" })).toBeVisible();
    await check();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Last 24 hours/ }).click();
    await page.getByRole("button", { name: "Named…" }).click();
    await check();
  });
}
