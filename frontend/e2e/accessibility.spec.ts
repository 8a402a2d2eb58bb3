import { violations } from "./axe.ts";
import { drawer, expect, openRow, rows, test, uniqueWord } from "./fixtures.ts";

// Axe reads each page whole, many times in a test.
test.describe.configure({ timeout: 180_000 });

for (const theme of ["dark", "light"] as const) {
  test(`nothing is in the way of assistive technology in the tokens and their forms, ${theme}`, async ({
    pageOf,
  }) => {
    const admin = await pageOf("admin");
    await admin.emulateMedia({ colorScheme: theme });
    await admin.goto("/admin/tokens?q=demo");
    await expect(admin.getByRole("row").nth(1)).toBeVisible();
    expect(await violations(admin)).toEqual([]);
    await admin.getByRole("button", { name: /^Account/ }).click();
    expect(await violations(admin)).toEqual([]);
    await admin.keyboard.press("Escape");

    await admin.getByRole("button", { name: "New token" }).click();
    await admin.getByRole("button", { name: "Last day" }).click();
    await admin.getByRole("button", { name: "Make token" }).click();
    await expect(admin.getByLabel("Name", { exact: true })).toBeFocused();
    expect(await violations(admin)).toEqual([]);
    await admin.getByLabel("Name", { exact: true }).fill(uniqueWord());
    await admin.getByLabel("Reason").fill("accessibility");
    await admin.getByLabel("events:write").check();
    await admin.getByRole("button", { name: "30 days" }).click();
    expect(await violations(admin)).toEqual([]);
    await admin.getByRole("button", { name: "Make token" }).click();
    await expect(admin.getByRole("region", { name: "New token" })).toBeVisible();
    expect(await violations(admin)).toEqual([]);
    await admin
      .getByRole("button", { name: /^Revoke / })
      .first()
      .click();
    await admin.getByRole("button", { name: "Revoke token" }).click();
    await expect(admin.getByText(/A reason is missing/)).toBeVisible();
    expect(await violations(admin)).toEqual([]);
  });

  test(`nor in the record and over a page whose session is over, ${theme}`, async ({ pageOf }) => {
    const admin = await pageOf("admin");
    await admin.emulateMedia({ colorScheme: theme });
    await admin.goto("/admin/audit?target=tokens/1&target=tokens/2");
    await admin
      .getByRole("button", { name: /^token.create by / })
      .first()
      .click();
    await expect(admin.getByRole("list", { name: "Before and after" })).toBeVisible();
    expect(await violations(admin)).toEqual([]);
    await admin.getByRole("button", { name: "Filter", exact: true }).click();
    expect(await violations(admin)).toEqual([]);
    await admin.goto("/admin/audit?q=nothing%20at%20all");
    await expect(admin.getByRole("heading", { name: "No entries match" })).toBeVisible();
    expect(await violations(admin)).toEqual([]);
    await admin.route("**/v1/auditEntries?**", (route) =>
      route.fulfill({
        status: 401,
        json: {
          error: {
            code: 401,
            message: "",
            status: "UNAUTHENTICATED",
            requestId: "",
            details: [{ reason: "SESSION_EXPIRED", domain: "oriel", message: "", metadata: {} }],
          },
        },
      }),
    );
    await admin.getByRole("button", { name: "Read again" }).click();
    await expect(admin.getByRole("alertdialog")).toBeVisible();
    expect(await violations(admin)).toEqual([]);
  });

  test(`nor where someone has to sign in or has not the role, ${theme}`, async ({ pageOf }) => {
    const analyst = await pageOf("analyst");
    await analyst.emulateMedia({ colorScheme: theme });
    await analyst.goto("/admin/tokens");
    await expect(analyst.getByRole("heading", { name: "Tokens need the admin role" })).toBeVisible();
    expect(await violations(analyst)).toEqual([]);

    const nobody = await pageOf("nobody");
    await nobody.emulateMedia({ colorScheme: theme });
    await nobody.goto("/explore");
    await expect(nobody.getByRole("link", { name: /^Sign in with / })).toBeVisible();
    expect(await violations(nobody)).toEqual([]);
    await nobody.goto("/sign-in?error=SIGN_IN_STATE&request=req_1");
    await expect(nobody.getByRole("alert")).toBeVisible();
    expect(await violations(nobody)).toEqual([]);
    await nobody.goto("/signed-out");
    await expect(nobody.getByRole("heading", { name: "You are signed out" })).toBeVisible();
    expect(await violations(nobody)).toEqual([]);
  });

  test(`nothing is in the way of assistive technology, ${theme}`, async ({ page, api }) => {
    const sent = await api.send({
      type: "test.axe.v1",
      extensions: { severity: "warning" },
      body: '{"a":1,"a":9007199254740993,"s":"text","n":null,"nested":{"b":[true,{}]}}',
    });
    await page.emulateMedia({ colorScheme: theme });
    await page.goto("/explore?type!=test.other.v1");
    await expect(rows(page).first()).toBeVisible();
    expect(await violations(page)).toEqual([]);

    await page.getByRole("button", { name: /^Last 24 hours/ }).click();
    await expect(page.getByRole("dialog", { name: "Time window" })).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");

    await page.goto("/explore?type=test.axe.v1");
    await openRow(page, 0);
    await expect(drawer(page).getByRole("tree", { name: "Data, as a tree" })).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await drawer(page).getByRole("button", { name: "Copy" }).click();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");

    await page.goto("/explore?q=(x");
    await expect(page.getByText("The query was not run.")).toBeVisible();
    expect(await violations(page)).toEqual([]);

    await page.goto(sent.path);
    await expect(page.getByRole("tree", { name: "Data, as a tree" })).toBeVisible();
    await page.getByRole("tab", { name: "Raw" }).click();
    expect(await violations(page)).toEqual([]);
  });
}

test("a theme is chosen, holds, and does not flash in another", async ({ page }) => {
  await page.goto("/explore");
  await page.getByRole("button", { name: "Theme" }).click();
  await page.getByRole("menuitemradio", { name: "Light" }).click();
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(await background()).toBe("rgb(244, 246, 244)");
  await page.reload({ waitUntil: "commit" });
  await page.waitForFunction(() => document.body !== null);
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("light");
  await page.getByRole("button", { name: "Theme" }).click();
  await page.getByRole("menuitemradio", { name: "As the system" }).click();
  expect(await background()).toBe("rgb(11, 15, 14)");
});
