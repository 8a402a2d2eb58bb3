import { begin, expect, heldBack, refused, rolesOf, signIn, test } from "./fixtures.ts";
import type { Door } from "./providers/door.ts";
import { type Stack, startStack } from "./stack.ts";

function doorOf({ provider: { door } }: Stack): Door {
  if (!door) throw new Error("this provider cannot be shut off");
  return door;
}

test("with the provider down the signed-in go on, and a sign-in says so until it is back @reach", async ({
  page,
  stack,
  browser,
}) => {
  const { analyst, operator } = stack.provider.people;
  const door = doorOf(stack);
  await signIn(page, stack, analyst);
  const second = await browser.newPage();
  await second.goto((await begin(second.context(), stack)).href);
  const callback = await heldBack(second, () => stack.provider.signIn(second, operator));

  await door.shut();
  try {
    // Longer than a role may be without a question.
    const until = Date.now() + 3000;
    await expect
      .poll(async () => {
        expect(await rolesOf(page.context(), stack)).toEqual(["analyst"]);
        return Date.now() > until;
      })
      .toBe(true);
    await page.reload();
    await expect(page.getByRole("button", { name: `Account: ${analyst.name}, analyst` })).toBeVisible();
    await second.goto(callback.href);
    await refused(second, stack, "PROVIDER_UNAVAILABLE");
    await expect(second.getByText("does not answer.")).toBeVisible();
  } finally {
    await door.open();
  }
  await second.getByRole("link", { name: /^Sign in again/ }).click();
  await stack.provider.goOn(second);
  await expect(second.getByRole("button", { name: `Account: ${operator.name}, operator` })).toBeVisible();
  await second.context().close();
});

test("a program that starts before its provider signs people in once it is there @reach @away", async ({
  page,
  kind,
}) => {
  const stack = await startStack(kind, { away: true });
  try {
    const door = doorOf(stack);
    await page.goto(`${stack.url}/explore?q=greenhouse`);
    await page.getByRole("link", { name: /^Sign in/ }).click();
    await refused(page, stack, "PROVIDER_UNAVAILABLE");
    await door.open();
    await expect(async () => {
      await page.getByRole("link", { name: /^Sign in again/ }).click();
      await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible({ timeout: 1000 });
    }).toPass({ timeout: 30_000 });
    await stack.provider.signIn(page, stack.provider.people.analyst);
    await expect(page.getByLabel("Words to find")).toHaveValue("greenhouse");
  } finally {
    await stack.stop();
  }
});
