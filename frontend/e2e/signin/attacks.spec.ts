import type { Page } from "@playwright/test";
import {
  begin,
  cookiesOf,
  expect,
  heldBack,
  recorded,
  refused,
  rolesOf,
  signIn,
  test,
  whoIs,
} from "./fixtures.ts";
import type { Stack } from "./stack.ts";

/** Signs the analyst in up to where the provider sends the browser back. */
async function almost(page: Page, stack: Stack): Promise<URL> {
  await page.goto((await begin(page.context(), stack)).href);
  return heldBack(page, () => stack.provider.signIn(page, stack.provider.people.analyst));
}

test("a nonce that is not the one of this sign-in is refused", async ({ page, stack }) => {
  const there = await begin(page.context(), stack);
  expect(there.searchParams.get("nonce")).toBeTruthy();
  there.searchParams.set("nonce", "the-nonce-of-another-sign-in");
  await page.goto(there.href);
  await stack.provider.signIn(page, stack.provider.people.analyst);
  const request = await refused(page, stack, "SIGN_IN_REJECTED");
  expect(await whoIs(page.context(), stack)).toBe(401);
  const entry = (await recorded(stack, "session.signIn")).find(({ requestId }) => requestId === request);
  expect(entry).toMatchObject({ outcome: "refused", detail: expect.stringContaining("SIGN_IN_REJECTED") });
});

test("a state that was tampered with is refused", async ({ page, stack }) => {
  const there = await begin(page.context(), stack);
  const state = there.searchParams.get("state") ?? "";
  there.searchParams.set("state", (state.startsWith("A") ? "B" : "A") + state.slice(1));
  await page.goto(there.href);
  await stack.provider.signIn(page, stack.provider.people.analyst);
  await refused(page, stack, "SIGN_IN_STATE");
  expect(await whoIs(page.context(), stack)).toBe(401);
});

test("an answer in another issuer's name, or in nobody's, is refused", async ({ page, stack }) => {
  const forged = await almost(page, stack);
  expect(forged.searchParams.get("iss")).toBeTruthy();
  forged.searchParams.set("iss", "https://another.example.com");
  await page.goto(forged.href);
  await refused(page, stack, "SIGN_IN_REJECTED");

  await page.context().clearCookies();
  const nameless = await almost(page, stack);
  nameless.searchParams.delete("iss");
  await page.goto(nameless.href);
  await refused(page, stack, "SIGN_IN_REJECTED");
  expect(await whoIs(page.context(), stack)).toBe(401);
});

test("a callback counts once, and once used it is of no use to another browser", async ({
  page,
  stack,
  browser,
}) => {
  const { analyst } = stack.provider.people;
  const callback = await almost(page, stack);
  await page.goto(callback.href);
  await expect(page).toHaveURL(/\/explore/);
  const session = (await cookiesOf(page.context(), stack)).map(({ value }) => value);

  await page.goto(callback.href);
  await refused(page, stack, "SIGN_IN_STATE");
  // What was there stays: nobody can be signed out by a link.
  expect(await whoIs(page.context(), stack)).toMatchObject({ name: analyst.name });
  expect((await cookiesOf(page.context(), stack)).map(({ value }) => value)).toEqual(session);

  const other = await browser.newPage();
  await other.goto(callback.href);
  await refused(other, stack, "SIGN_IN_STATE");
  expect(await whoIs(other.context(), stack)).toBe(401);
  await other.context().close();
});

test("a callback that another browser brings is refused there, and goes on in its own", async ({
  page,
  stack,
  browser,
}) => {
  const callback = await almost(page, stack);
  const other = await browser.newPage();
  // With a sign-in of its own under way.
  await begin(other.context(), stack);
  await other.goto(callback.href);
  await refused(other, stack, "SIGN_IN_STATE");
  expect(await whoIs(other.context(), stack)).toBe(401);
  await other.context().close();

  await page.goto(callback.href);
  await expect(page).toHaveURL(/\/explore/);
  expect(await rolesOf(page.context(), stack)).toEqual(["analyst"]);
});

test("a callback without the cookie of its beginning is refused", async ({ page, stack }) => {
  const callback = await almost(page, stack);
  const [before] = await cookiesOf(page.context(), stack);
  expect(before?.name).toMatch(/-sign-in$/);
  await page.context().clearCookies({ name: before?.name ?? "" });
  await page.goto(callback.href);
  await refused(page, stack, "SIGN_IN_STATE");
  expect(await whoIs(page.context(), stack)).toBe(401);
});

test("a code of one sign-in is refused in another", async ({ page, stack, browser }) => {
  const stolen = await almost(page, stack);
  const other = await browser.newPage();
  const own = await almost(other, stack);
  own.searchParams.set("code", stolen.searchParams.get("code") ?? "");
  await other.goto(own.href);
  await refused(other, stack, "SIGN_IN_REFUSED");
  expect(await whoIs(other.context(), stack)).toBe(401);
  await other.context().close();
});

test("a sign-in leads nowhere but into the program", async ({ page, stack }) => {
  const { analyst } = stack.provider.people;
  for (const elsewhere of [
    "//another.example.com/",
    "/\\another.example.com/",
    "https://another.example.com/",
  ]) {
    await page.context().clearCookies();
    await page.goto((await begin(page.context(), stack, elsewhere)).href);
    await stack.provider.signIn(page, analyst);
    await expect(page.getByRole("button", { name: /^Account: / })).toBeVisible();
    expect(new URL(page.url()).origin).toBe(stack.url);
  }
});

test("a page of another site cannot sign anybody out", async ({ page, stack }) => {
  await signIn(page, stack, stack.provider.people.analyst);
  for (const headers of [{ origin: "https://another.example.com" }, { "sec-fetch-site": "cross-site" }]) {
    const answer = await page.request.post(`${stack.url}/v1/session:signOut`, {
      headers: { "content-type": "application/json", ...headers },
      data: "{}",
    });
    expect(answer.status()).toBe(403);
  }
  expect(await rolesOf(page.context(), stack)).toEqual(["analyst"]);
});
