import { drawer, expect, rows, settled, test, uniqueWord } from "./fixtures.ts";

test("a value is excluded where it stands, and the chip can be turned round and removed", async ({
  page,
  api,
}) => {
  const word = uniqueWord();
  await api.send({ type: "test.keep.v1", body: `{"w":"${word}"}` });
  await api.send({ type: "test.drop.v1", body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(2);

  // Its text gets shorter to make room for the actions.
  await rows(page).locator('[data-field="type"][title="test.drop.v1"]').hover();
  await rows(page).getByRole("button", { name: "Exclude: type test.drop.v1" }).click();
  const chip = page.getByRole("button", { name: "Change filter: type is not test.drop.v1" });
  await expect(chip).toBeVisible();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).locator('[data-field="type"]')).toHaveAttribute("title", "test.keep.v1");
  await expect(page).toHaveURL(/type!=test\.drop\.v1/);

  await chip.click();
  await page.getByRole("dialog", { name: "Filter: type" }).getByLabel("Asks").selectOption("is");
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await expect(page.getByRole("button", { name: "Change filter: type is test.drop.v1" })).toBeVisible();
  await expect(rows(page).locator('[data-field="type"]')).toHaveAttribute("title", "test.drop.v1");

  await page.getByRole("button", { name: "Remove filter: type is test.drop.v1" }).click();
  await expect(rows(page)).toHaveCount(2);
});

test("a filter is written by hand, with several values of which any matches", async ({ page, api }) => {
  const word = uniqueWord();
  for (const subject of ["s-1", "s-2", "s-3"]) await api.send({ subject, body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("combobox", { name: "Field" }).fill("subject");
  await page.getByLabel("Values, one on each line").fill("s-1\ns-3");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await expect(rows(page)).toHaveCount(2);
  await expect(page).toHaveURL(/subject=s-1&subject=s-3/);
});

test("severity filters are thresholds", async ({ page, api }) => {
  const word = uniqueWord();
  for (const severity of ["info", "warning", "error"])
    await api.send({ extensions: { severity }, body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}&severity=warning`);
  await expect(rows(page)).toHaveCount(2);
  await expect(page.getByRole("button", { name: "Change filter: severity at least warning" })).toBeVisible();
  await page.goto(`/explore?q=${word}&severity!=warning`);
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first()).toContainText("info");
});

test("pages go on to the end, every event once, and the end is said", async ({ page, api }) => {
  const source = `/e2e/${uniqueWord()}`;
  await api.sendMany(730, source);
  await page.goto(`/explore?source=${source}`);
  await expect(page.getByText("100 of 730 events")).toBeVisible();

  const seen = new Set<string>();
  const grid = page.getByRole("grid", { name: "Events" });
  await grid.focus();
  await expect(async () => {
    for (const summary of await rows(page).locator('[data-field="summary"]').allTextContents())
      seen.add(summary);
    await page.keyboard.press("PageDown");
    await expect(page.getByText("End of results.")).toBeVisible({ timeout: 50 });
  }).toPass({ timeout: 50_000, intervals: [20] });
  for (const summary of await rows(page).locator('[data-field="summary"]').allTextContents())
    seen.add(summary);
  expect(seen.size).toBe(730);
  await expect(page.getByRole("status").getByText("730 events", { exact: true })).toBeVisible();
});

test("results stay as they are until a new snapshot is asked for", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  await api.send({ body: `{"w":"${word}"}` });
  await page.getByRole("grid", { name: "Events" }).focus();
  await page.keyboard.press("j");
  await expect(rows(page)).toHaveCount(1);
  await page.getByRole("button", { name: "New snapshot" }).click();
  await expect(rows(page)).toHaveCount(2);
});

test("the query language picks fields, alternatives and what is not to be there", async ({ page, api }) => {
  const word = uniqueWord();
  for (const n of [1, 2, 3, 4]) {
    await api.send({ type: `test.n${n}.v1`, body: `{"w":"${word}","n":${n}}` });
  }
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(4);
  for (const [query, count] of [
    [`${word} (type:test.n1.v1 OR data.n>=3) -data.n:4`, 2],
    [`${word} type:test.n2.v1`, 1],
    [`${word} -type:test.n2.v1`, 3],
  ] as const) {
    await page.getByLabel("Words to find").fill(query);
    await page.keyboard.press("Enter");
    await expect(rows(page)).toHaveCount(count);
  }
});

test("a query that is not understood says where, and the last results stay", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  await page.getByLabel("Words to find").fill("sevrity:error (a OR");
  await page.keyboard.press("Enter");
  const alert = page.getByRole("alert");
  await expect(alert).toContainText("character 1");
  await expect(alert).toContainText("severity");
  await expect(alert).toContainText("The last results stay below.");
  await expect(page.getByLabel("Words to find")).toHaveAttribute("aria-invalid", "true");
  await expect(rows(page)).toHaveCount(1);
  await page.getByLabel("Words to find").fill(word);
  await expect(page.getByLabel("Words to find")).toHaveAttribute("aria-invalid", "false");
  await page.keyboard.press("Enter");
  await expect(alert).toBeHidden();
  await expect(page.getByRole("status").getByText("1 event", { exact: true })).toBeVisible();
});

test("a window is typed as times of the zone, and refused in words", async ({ page }) => {
  await page.goto("/explore?zone=Asia/Kolkata");
  await settled(page);
  await page.keyboard.press("d");
  const dialog = page.getByRole("dialog", { name: "Time window" });
  await dialog.getByLabel("From").fill("2026-02-30");
  await dialog.getByRole("button", { name: "Apply" }).click();
  await expect(dialog).toContainText("does not exist");
  await dialog.getByLabel("From").fill("2026-10-03 05:30");
  await dialog.getByLabel("Until").fill("2026-10-03 05:29");
  await dialog.getByRole("button", { name: "Apply" }).click();
  await expect(dialog).toContainText("Until must be later than From.");
  await dialog.getByLabel("Until").fill("2026-10-03 06:30");
  await dialog.getByRole("button", { name: "Apply" }).click();
  await expect(page).toHaveURL(/from=2026-10-03T00:00:00Z&until=2026-10-03T01:00:00Z/);
  await expect(page.getByRole("button", { name: /Fixed window 3 Oct 05:30:00 – 06:30:00/ })).toBeVisible();
  await expect(page.getByRole("heading", { name: "No events in this window" })).toBeVisible();
});

test("a parameter that is no filter is shown and explained", async ({ page }) => {
  await page.goto("/explore?sauce=x");
  await expect(page.getByText("unknown, ignored")).toBeVisible();
  await expect(rows(page).first()).toBeVisible();
  await page.getByRole("button", { name: "Remove filter: sauce" }).click();
  await expect(page).toHaveURL(/\/explore$/);
});

test("a server that stops answering leaves the rows readable and is asked again", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  await page.route("**/v1/events**", (route) => route.abort());
  await page.getByRole("button", { name: "New snapshot" }).click();
  await expect(page.getByRole("alert")).toContainText("Shown as of");
  await expect(rows(page)).toHaveCount(1);
  await page.unroute("**/v1/events**");
  await page.getByRole("button", { name: "Now" }).click();
  await expect(page.getByRole("status").getByText("1 event", { exact: true })).toBeVisible();
});

test("a failed first search names the request, and can be repeated", async ({ page }) => {
  const body = {
    error: {
      code: 500,
      message: "Something failed on our side.",
      status: "INTERNAL",
      requestId: "req_test",
      details: [{ reason: "INTERNAL", domain: "oriel", message: "", metadata: {} }],
    },
  };
  await page.route("**/v1/events:snapshot*", (route) => route.fulfill({ status: 500, json: body }));
  await page.goto("/explore");
  await expect(page.getByRole("alert")).toContainText("request req_test");
  await page.unroute("**/v1/events:snapshot*");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(rows(page).first()).toBeVisible();
});

test("a page that looked in vain says how far, and looks on when asked", async ({ page }) => {
  const empty = { events: [], snapshot: "s", covered: { from: "2026-11-30T03:04:05.678901Z" } };
  let asked = 0;
  await page.route("**/v1/events?*", (route) => {
    asked++;
    return route.fulfill({ json: asked <= 5 ? { ...empty, nextPageToken: `t${asked}` } : empty });
  });
  await page.goto("/explore");
  await expect(page.getByText("Looked back to 2026-11-30 03:04:05.678 UTC")).toBeVisible();
  expect(asked).toBe(5);
  await page.getByRole("button", { name: "Look further back" }).click();
  await expect(page.getByRole("heading", { name: "No events in this window" })).toBeVisible();
});

test("where reads need a token the page says how to get one", async ({ page }) => {
  const error = {
    code: 401,
    message: "A token is needed.",
    status: "UNAUTHENTICATED",
    requestId: "req_test",
    details: [],
  };
  await page.route("**/v1/**", (route) => route.fulfill({ status: 401, json: { error } }));
  await page.goto("/explore");
  await expect(page.getByRole("heading", { name: "Reads need an API token" })).toBeVisible();
  await expect(drawer(page)).toBeHidden();
});
