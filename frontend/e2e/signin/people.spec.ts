import { cookiesOf, expect, rolesOf, signIn, test, whoIs } from "./fixtures.ts";
import type { Role } from "./providers/people.ts";
import { contact } from "./stack.ts";

const deepLink = "/explore?q=greenhouse&type=order.placed.v1";

test("who opens a deep link signs in and is on it, with its query", async ({ page, stack }) => {
  const { analyst } = stack.provider.people;
  await page.goto(deepLink);
  await page.getByRole("link", { name: /^Sign in with / }).click();
  await stack.provider.signIn(page, analyst);
  await expect(page.getByRole("button", { name: `Account: ${analyst.name}, analyst` })).toBeVisible();
  await expect(page.getByLabel("Words to find")).toHaveValue("greenhouse");
  expect(new URL(page.url()).searchParams.get("type")).toBe("order.placed.v1");
  expect(new URL(page.url()).searchParams.get("q")).toBe("greenhouse");
  // Nothing of the sign-in is where a script or another site could take it.
  const cookies = await cookiesOf(page.context(), stack);
  expect(cookies.length).toBeGreaterThan(0);
  for (const { httpOnly, sameSite } of cookies)
    expect({ httpOnly, sameSite }).toEqual({ httpOnly: true, sameSite: "Lax" });
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  for (const { value } of cookies) expect(kept).not.toContain(value);
});

const included: Readonly<Record<Role, readonly Role[]>> = {
  analyst: ["analyst"],
  operator: ["analyst", "operator"],
  admin: ["analyst", "operator", "admin"],
};

for (const [role, roles] of Object.entries(included) as [Role, readonly Role[]][]) {
  test(`the role ${role} arrives, and what needs a higher one says which`, async ({ page, stack }) => {
    const person = stack.provider.people[role];
    await signIn(page, stack, person, "/admin/tokens");
    expect(await whoIs(page.context(), stack)).toMatchObject({ name: person.name, kind: "person", roles });
    await page.getByRole("button", { name: `Account: ${person.name}, ${role}` }).click();
    await expect(
      page.getByText(`${roles.length === 1 ? "Role" : "Roles"}: ${roles.join(", ")}`),
    ).toBeVisible();
    const wall = page.getByRole("heading", { name: "Tokens need the admin role" });
    if (role === "admin") {
      await expect(page.getByRole("button", { name: "New token" })).toBeVisible();
      await expect(wall).toBeHidden();
    } else {
      await expect(wall).toBeVisible();
    }
  });
}

test("who has no role is told so, and whom to ask", async ({ page, stack }) => {
  const { nobody } = stack.provider.people;
  await page.goto(deepLink);
  await page.getByRole("link", { name: /^Sign in with / }).click();
  await stack.provider.signIn(page, nobody);
  await expect(page.getByRole("heading", { name: "No role was given to you here" })).toBeVisible();
  await expect(page.getByText(`Ask ${contact} for one.`)).toBeVisible();
  expect(await rolesOf(page.context(), stack)).toEqual([]);
  const events = await page.request.get("/v1/events:snapshot?pageSize=1");
  expect(events.status()).toBe(403);
  expect(await events.text()).toContain("ROLE_MISSING");
});
