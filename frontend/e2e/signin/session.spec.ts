import { expect, leave, recorded, rolesOf, signIn, test, whoIs } from "./fixtures.ts";

test("a form that is half filled in outlives its session", async ({ page, stack, browser }) => {
  const { admin } = stack.provider.people;
  await signIn(page, stack, admin, "/admin/tokens");
  await page.getByRole("button", { name: "New token" }).click();
  const form = page.getByRole("form", { name: "New token" });
  const name = `boiler-${Date.now()}`;
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Reason").fill("The boiler sends its temperature.");
  await form.getByLabel("events:write").check();

  const other = await browser.newPage();
  await signIn(other, stack, admin);
  await leave(other, "Sign out everywhere");
  await stack.provider.confirmSignOut(other);
  await expect(other).toHaveURL(`${stack.url}/signed-out`);
  await other.context().close();

  await form.getByRole("button", { name: "Make token" }).click();
  const note = page.getByRole("alertdialog", { name: "You were signed out." });
  await expect(note).toContainText("what you typed is kept");
  await note.getByRole("link", { name: "Sign in" }).click();
  await stack.provider.goOn(page);
  await expect(form.getByLabel("Name")).toHaveValue(name);
  await expect(form.getByLabel("Reason")).toHaveValue("The boiler sends its temperature.");
  await expect(form.getByLabel("events:write")).toBeChecked();
  await form.getByRole("button", { name: "Make token" }).click();
  await expect(page.getByText(/orl_\w+/).first()).toBeVisible();
  await expect(page.getByRole("row", { name: new RegExp(name) })).toBeVisible();
});

test("who signs out is signed out at the provider too", async ({ page, stack }) => {
  const { analyst, operator } = stack.provider.people;
  await signIn(page, stack, analyst);
  const before = await page.context().cookies(stack.url);
  await leave(page, "Sign out");
  await stack.provider.confirmSignOut(page);
  await expect(page).toHaveURL(`${stack.url}/signed-out`);
  await expect(page.getByRole("heading", { name: "You are signed out" })).toBeVisible();
  expect(await whoIs(page.context(), stack)).toBe(401);

  // The old cookie is worth nothing, and the provider asks again who it is.
  await page.context().addCookies(before);
  expect(await whoIs(page.context(), stack)).toBe(401);
  await page.getByRole("link", { name: /^Sign in/ }).click();
  await stack.provider.signIn(page, operator);
  await expect(page.getByRole("button", { name: `Account: ${operator.name}, operator` })).toBeVisible();
});

test("signing out everywhere ends the session of a second browser at its next request", async ({
  page,
  stack,
  browser,
}) => {
  const { operator, analyst } = stack.provider.people;
  const second = await browser.newPage();
  const third = await browser.newPage();
  await signIn(second, stack, operator);
  await signIn(third, stack, analyst);
  await signIn(page, stack, operator);
  expect(await rolesOf(second.context(), stack)).toEqual(["analyst", "operator"]);

  await leave(page, "Sign out everywhere");
  await stack.provider.confirmSignOut(page);
  await expect(page).toHaveURL(`${stack.url}/signed-out`);
  expect(await whoIs(second.context(), stack)).toBe(401);
  expect(await whoIs(page.context(), stack)).toBe(401);
  expect((await recorded(stack, "session.signOutEverywhere"))[0]).toMatchObject({
    outcome: "done",
    actor: operator.name,
  });
  // Only that person's.
  expect(await rolesOf(third.context(), stack)).toEqual(["analyst"]);

  await second.reload();
  await expect(second.getByRole("link", { name: /^Sign in/ })).toBeVisible();
  await second.context().close();
  await third.context().close();
});

test("a role that was taken away at the provider is gone, and the record says so", async ({
  page,
  stack,
}) => {
  const { leaver } = stack.provider.people;
  await signIn(page, stack, leaver);
  expect(await rolesOf(page.context(), stack)).toEqual(["analyst", "operator"]);
  await stack.provider.takeRole(leaver);
  await expect.poll(() => rolesOf(page.context(), stack)).toEqual([]);
  // The page that is open finds out with the next thing that it asks.
  await page.getByLabel("Words to find").fill("greenhouse");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "No role was given to you here" })).toBeVisible();
  const [entry] = await recorded(stack, "session.rolesChanged");
  expect(entry).toMatchObject({
    outcome: "done",
    target: leaver.name,
    before: { roles: ["analyst", "operator"] },
    after: { roles: [] },
  });
});
