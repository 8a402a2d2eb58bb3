import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { expect, readDemo, test } from "./fixtures.ts";
import { signIn } from "./people.ts";

const secretPattern = /^orl_[\w-]{43}$/;

/** Makes a token as a program does, and returns its name. */
async function make(displayName: string, reason: string): Promise<string> {
  const { url, operatorToken } = readDemo();
  const answer = await fetch(`${url}/v1/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify({ displayName, scopes: ["events:read"], reason }),
  });
  expect(answer.status, await answer.clone().text()).toBe(200);
  const { token } = (await answer.json()) as { token: { name: string } };
  return token.name;
}

async function publish(secret: string, source: string): Promise<number> {
  const answer = await fetch(`${readDemo().url}/v1/events`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${secret}`,
      "ce-specversion": "1.0",
      "ce-id": randomUUID(),
      "ce-type": "test.token.v1",
      "ce-source": source,
      "ce-time": new Date().toISOString(),
    },
  });
  return answer.status;
}

const row = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });

test.describe("an admin", () => {
  test.use({ role: "admin" });

  test("makes a token that is shown once and works, and ends it", async ({ page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const name = `valve-${randomUUID()}`;
    const why = `sold-${randomUUID()}`;
    await page.goto("/admin/tokens");
    await page.getByRole("button", { name: "New token" }).click();
    const form = page.getByRole("form", { name: "New token" });
    await expect(form.getByLabel("Name")).toBeFocused();
    await form.getByLabel("Name").fill(name);
    await form.getByLabel("Reason").fill("sensor rollout");
    await form.getByLabel("events:write").check();
    await form.getByLabel(/^May write sources/).fill("/e2e/greenhouse-2");
    await form.getByRole("button", { name: "30 days" }).click();
    await form.getByRole("button", { name: "Make token" }).click();

    const once = page.getByRole("region", { name: "New token" });
    await expect(once.getByRole("button", { name: "Copy" })).toBeFocused();
    const secret = (await once.getByText(secretPattern).textContent()) ?? "";
    await once.getByRole("button", { name: "Copy" }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret);
    await expect(form).toBeHidden();
    await expect(row(page, name)).toContainText("/e2e/greenhouse-2");
    await expect(row(page, name)).toContainText(`orl_${secret.slice(4, 12)}…`);

    expect(await publish(secret, "/e2e/greenhouse-2/valve")).toBe(200);
    expect(await publish(secret, "/e2e/other")).toBe(403);

    await page.reload();
    await expect(row(page, name)).toBeVisible();
    expect(await page.content()).not.toContain(secret);
    expect(
      await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])),
    ).not.toContain(secret);

    await row(page, name).getByRole("button", { name: "Revoke" }).click();
    const dialog = page.getByRole("alertdialog", { name: `Revoke token “${name}”?` });
    await dialog.getByRole("button", { name: "Revoke token" }).click();
    await expect(dialog.getByText(/A reason is missing/)).toBeVisible();
    await dialog.getByLabel("Reason").fill(why);
    await dialog.getByRole("button", { name: "Revoke token" }).click();
    await expect(dialog).toBeHidden();
    await expect(row(page, name)).toContainText(/revoked .* by /);
    await expect.poll(() => publish(secret, "/e2e/greenhouse-2/valve"), { timeout: 5000 }).toBe(401);

    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByLabel("Text, or a request id").fill(why);
    await page.keyboard.press("Enter");
    await expect(page.getByText("append-only, 1 entry")).toBeVisible();
    await expect(row(page, "token.revoke")).toContainText(`“${why}”`);
    await expect(row(page, "token.revoke")).toContainText("done");
  });

  test("is told all that is wrong with a new token at once, by the page and by the server", async ({
    page,
  }) => {
    await page.goto("/admin/tokens?new");
    const form = page.getByRole("form", { name: "New token" });
    await form.getByRole("button", { name: "Last day" }).click();
    await form.getByRole("button", { name: "Make token" }).click();
    await expect(form.getByLabel("Name")).toHaveAttribute("aria-invalid", "true");
    await expect(form.getByLabel("Reason")).toHaveAttribute("aria-invalid", "true");
    await expect(form.getByText(/^Choose at least one/)).toBeVisible();
    await expect(form.getByText(/^Choose a day/)).toBeVisible();
    await expect(form.getByLabel("Name")).toBeFocused();

    await form.getByLabel("Name").fill("x");
    await form.getByLabel("Reason").fill("x");
    await form.getByLabel("events:write").check();
    await form.getByRole("button", { name: "Never" }).click();
    // What only the server knows.
    await form.getByLabel(/^May write sources/).fill("/a\u0007b");
    await form.getByRole("button", { name: "Make token" }).click();
    await expect(form.getByText(/control character/)).toBeVisible();
    await expect(form.getByLabel(/^May write sources/)).toBeFocused();
    await form.getByRole("button", { name: "Cancel" }).click();
    await expect(page).toHaveURL(/\/admin\/tokens$/);
  });

  test("finds tokens by name and by prefix, and by their state", async ({ page }) => {
    const name = `needle-${randomUUID()}`;
    await make(name, "to be found");
    await page.goto("/admin/tokens");
    await page.getByLabel("Name or prefix").fill(name.slice(3).toUpperCase());
    await expect(row(page, name)).toBeVisible();
    await expect(page.getByRole("row")).toHaveCount(2);
    const prefix = ((await row(page, name).getByText(/^orl_/).textContent()) ?? "").slice(4, 12);
    await page.getByLabel("Name or prefix").fill(prefix);
    await expect(page).toHaveURL(new RegExp(`q=${prefix}`));
    await expect(row(page, name)).toBeVisible();
    await page.getByRole("button", { name: "revoked" }).click();
    await expect(page.getByRole("heading", { name: "No tokens match" })).toBeVisible();
    await page.reload();
    await expect(page.getByRole("button", { name: "revoked" })).toHaveAttribute("aria-pressed", "true");
    await page.getByRole("button", { name: "Show all" }).click();
    await expect(page.getByLabel("Name or prefix")).toHaveValue("");
  });

  test("reads the record: filters in the address, an entry unfolded, and the same as a file", async ({
    page,
  }) => {
    const names = [`a-${randomUUID()}`, `b-${randomUUID()}`];
    const reason = `reason-${randomUUID()}`;
    const made = await Promise.all(names.map((name) => make(name, reason)));
    await page.goto(`/admin/audit?q=${reason}&action=token.*&outcome=done`);
    await expect(page.getByText("append-only, 2 entries")).toBeVisible();
    const first = row(page, made[0] ?? "");
    await expect(first).toContainText("token.create");
    await first.getByRole("button", { name: /^token.create by / }).click();
    await expect(page.getByRole("list", { name: "Before and after" })).toContainText(names[0] ?? "");
    await expect(page.getByRole("definition").filter({ hasText: /^req_/ })).toBeVisible();
    await expect(page).toHaveURL(/entry=/);
    await page.reload();
    await expect(page.getByRole("list", { name: "Before and after" })).toBeVisible();

    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "NDJSON" }).click();
    const stream = await (await download).createReadStream();
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) chunks.push(chunk as Uint8Array);
    const lines = Buffer.concat(chunks).toString("utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line) as { target?: string; trailer?: unknown })).toEqual([
      expect.objectContaining({ reason }),
      expect.objectContaining({ reason }),
      { trailer: { complete: true, entries: 2 } },
    ]);

    await page.getByRole("button", { name: `Only target ${made[0]}` }).click();
    await expect(page.getByText("append-only, 1 entry")).toBeVisible();
    await page.getByRole("button", { name: `Remove filter: target is ${made[0]}` }).click();
    await expect(page.getByText("append-only, 2 entries")).toBeVisible();
    await page.goto(`/admin/audit?q=${reason}&until=-1h`);
    await expect(page.getByRole("heading", { name: "No entries match" })).toBeVisible();
    await page.goto("/admin/audit?from=yesterday");
    await expect(page.getByRole("alert")).toContainText("INVALID_PARAMETER");
  });

  test("sees what others named things as text, whatever it is", async ({ page }) => {
    const mark = randomUUID();
    const hostile = `<img src=x onerror="window.ran=1">\u202e${mark}`;
    await make(hostile, hostile);
    await page.goto(`/admin/tokens?q=${mark}`);
    await expect(page.getByText(`<img src=x onerror="window.ran=1">`).first()).toBeVisible();
    await page.goto(`/admin/audit?q=${mark}`);
    await page.getByRole("button", { name: /^token.create by / }).click();
    await expect(page.getByRole("list", { name: "Before and after" })).toContainText("<img src=x");
    await expect(page.locator("main img")).toHaveCount(0);
    expect(await page.evaluate(() => "ran" in window)).toBe(false);
  });
});

test("who signs out in the middle of revoking comes back to the dialog and its reason", async ({
  browser,
}) => {
  const demo = readDemo();
  const name = `revoke-${randomUUID()}`;
  const number = (await make(name, "to be revoked")).replace("tokens/", "");
  // A session of its own, as it ends.
  const context = await browser.newContext({ baseURL: demo.url, storageState: { cookies: [], origins: [] } });
  const page = await context.newPage();
  await signIn(page, demo, "admin", `/admin/tokens?q=${name}`);
  await row(page, name).getByRole("button", { name: "Revoke" }).click();
  const dialog = page.getByRole("alertdialog", { name: `Revoke token “${name}”?` });
  await dialog.getByLabel("Reason").fill("it leaked");
  const kept = await context.cookies();
  await page.evaluate(() =>
    fetch("/v1/session:signOut", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    }),
  );
  await context.clearCookies();
  await context.addCookies(kept);
  await dialog.getByRole("button", { name: "Revoke token" }).click();
  const note = page.getByRole("alertdialog", { name: "You were signed out." });
  await note.getByRole("link", { name: "Sign in" }).click();
  await page.waitForURL((url) => url.searchParams.get("revoke") === number);
  await expect(dialog.getByLabel("Reason")).toHaveValue("it leaked");
  await dialog.getByRole("button", { name: "Revoke token" }).click();
  await expect(row(page, name)).toContainText("revoked");
  await context.close();
});

test("everyone sees Admin, and is told which role its pages need", async ({ page, pageOf }) => {
  for (const [other, role] of [
    [page, "analyst"],
    [await pageOf("operator"), "operator"],
  ] as const) {
    const asked: string[] = [];
    other.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await other.goto("/explore");
    await other.getByRole("link", { name: "Admin" }).click();
    await expect(other.getByRole("heading", { name: "Tokens need the admin role" })).toBeVisible();
    await expect(other.getByText(`with the role ${role}`)).toBeVisible();
    await expect(other.getByRole("link", { name: "Admin" })).toHaveAttribute("aria-current", "page");
    await other.goto("/admin/audit");
    await expect(other.getByRole("heading", { name: "The audit record needs the admin role" })).toBeVisible();
    expect(asked.filter((path) => path.startsWith("/v1/tokens") || path.startsWith("/v1/audit"))).toEqual([]);
  }
});

test.describe("nobody", () => {
  test.use({ role: "nobody" });

  test("sees the sign-in under the address that was asked for, and no error before it", async ({ page }) => {
    await page.addInitScript(() => {
      const seen: string[] = [];
      Object.assign(window, { seen });
      new MutationObserver(() => {
        const alert = document.querySelector('[role="alert"]');
        if (alert) seen.push(alert.textContent ?? "");
      }).observe(document, { childList: true, subtree: true });
    });
    for (const path of ["/explore?q=a%20b", "/events/%2Fshop:a%2Fb?time=x", "/admin/tokens?new"]) {
      await page.goto(path);
      const link = page.getByRole("link", { name: /^Sign in with / });
      await expect(link).toHaveAttribute("href", `/auth/sign-in?return=${encodeURIComponent(path)}`);
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(path);
      expect(await page.evaluate(() => (window as unknown as { seen: string[] }).seen)).toEqual([]);
      await expect(page.getByText("operator-1")).toBeVisible();
    }
  });
});

test("the account menu says who is signed in, as what and until when", async ({ page }) => {
  const user = readDemo().users.find(({ roles }) => roles.includes("analyst"));
  await page.goto("/explore?zone=Asia/Kolkata");
  await page.getByRole("button", { name: /^Account: .*, analyst$/ }).click();
  const menu = page.getByRole("menu", { name: "Account" });
  await expect(menu).toContainText(`${user?.username}@example.com`);
  await expect(menu).toContainText("Role: analyst");
  await expect(menu).toContainText(/Session ends \d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} \+05:30/);
  await expect(menu.getByRole("menuitem", { name: "Sign out", exact: true })).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(menu.getByRole("menuitem", { name: "Sign out everywhere" })).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: /^Account/ })).toBeFocused();
});
