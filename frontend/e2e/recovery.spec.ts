import type { Page } from "@playwright/test";
import { drawer, expect, openRow, rows, settled, test, uniqueWord } from "./fixtures.ts";

const everything = "**/*";

/** Lets nothing through, as where the server is down. */
async function takeDown(page: Page): Promise<void> {
  await page.route(everything, (route) => route.abort("connectionrefused"));
}

/** Waits until the parts that an event needs have come unasked. */
async function preloaded(page: Page): Promise<void> {
  await expect
    .poll(() =>
      page.evaluate(() =>
        ["EventDrawer", "EventPage"].every((part) =>
          performance.getEntriesByType("resource").some(({ name }) => name.includes(`/assets/${part}-`)),
        ),
      ),
    )
    .toBe(true);
}

test("an event opened while the server is down says so in its place, and comes when the server does", async ({
  page,
  api,
}) => {
  const word = uniqueWord();
  await api.send({ type: "test.down.v1", body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await settled(page);
  await preloaded(page);
  await takeDown(page);
  await openRow(page, 0);
  await expect(drawer(page).getByRole("alert")).toContainText("The server does not answer.");
  await expect(rows(page)).toHaveCount(1);
  await page.unroute(everything);
  // Nobody asks.
  await expect(drawer(page).getByRole("tree", { name: "Data, as a tree" })).toContainText(word);
});

test("a part of the app that cannot be loaded leaves the rest, and is tried again", async ({ page }) => {
  const parts = /\/assets\/(EventDrawer|EventPage)-/;
  await page.route(parts, (route) => route.abort("connectionrefused"));
  await page.goto("/explore");
  await openRow(page, 0);
  await expect(drawer(page).getByText("This part of the app could not be loaded.")).toBeVisible();
  await expect(drawer(page).getByRole("button", { name: "Reload" })).toBeVisible();
  await expect(page.getByRole("link", { name: "Explore", exact: true })).toBeVisible();
  await expect(rows(page).first()).toBeVisible();

  await drawer(page).getByRole("button", { name: "Try again" }).click();
  await expect(drawer(page).getByText("This part of the app could not be loaded.")).toBeVisible();
  await page.unroute(parts);
  await drawer(page).getByRole("button", { name: "Try again" }).click();
  await expect(drawer(page).getByRole("heading", { level: 2 })).toBeVisible();
});

test("a search without an answer says how long it takes, and Escape gives it up", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  const given: string[] = [];
  page.on("requestfailed", (request) => {
    // The search before may still be counted, and is given up as well.
    if (!request.url().includes(word)) given.push(new URL(request.url()).pathname);
  });
  await page.route(/\/v1\/events:snapshot/, () => undefined);
  await page.getByLabel("Words to find").fill("another");
  await page.keyboard.press("Enter");
  await expect(page.getByText(/^Reading… \d+\.\d s$/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Cancel reading" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByText("Shown as of")).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  await expect.poll(() => given).toEqual(["/v1/events:snapshot"]);

  await page.unroute(/\/v1\/events:snapshot/);
  await page.getByRole("button", { name: "Search again" }).click();
  await expect(page.getByText("Shown as of")).toBeHidden();
});

test("the first search and an event without an answer are given up too", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.route(/\/v1\/events:snapshot/, () => undefined);
  await page.goto(`/explore?q=${word}`);
  await page.getByRole("button", { name: "Cancel reading" }).click();
  await expect(page.getByRole("heading", { name: "The search was cancelled" })).toBeVisible();
  await page.unroute(/\/v1\/events:snapshot/);
  await page.getByRole("button", { name: "Search again" }).click();
  await expect(rows(page)).toHaveCount(1);

  await page.route(/\/v1\/events\//, () => undefined);
  await openRow(page, 0);
  await expect(drawer(page).getByText(/^Reading… \d+\.\d s$/)).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(drawer(page).getByText("Reading the event was cancelled.")).toBeVisible();
  await page.unroute(/\/v1\/events\//);
  await drawer(page).getByRole("button", { name: "Try again" }).click();
  await expect(drawer(page).getByRole("tree", { name: "Data, as a tree" })).toContainText(word);
  await page.keyboard.press("Escape");
  await expect(drawer(page)).toBeHidden();
});

test("what asking again does not change is not asked again", async ({ page }) => {
  await page.goto("/explore?v=9&type=x");
  await expect(page.getByText("The search was refused.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Try again" })).toBeHidden();
  await page.getByRole("button", { name: "Remove v=9" }).click();
  await expect(page.getByRole("heading", { name: "No events match" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Last 30 days" })).toBeVisible();
  await expect(page.getByRole("grid").getByRole("button", { name: "Last 24 hours" })).toBeHidden();

  await page.goto("/explore?q=(a");
  await expect(page.getByRole("alert")).toHaveCount(1);
  await expect(page.getByText("The last results stay below.")).toBeHidden();

  await page.goto("/events/%2Fe2e:missing");
  await expect(page.getByText("There is no such event.")).toBeVisible();
  await expect(page.getByText("NOT_FOUND")).toHaveCount(1);
  await expect(page.getByRole("link", { name: "Download raw" })).toBeHidden();
  await page.goto("/events/");
  await expect(page).toHaveTitle("Not found · Oriel");
});
