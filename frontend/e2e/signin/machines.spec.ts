import { randomUUID } from "node:crypto";
import { expect, rolesOf, signIn, test, whoIs } from "./fixtures.ts";
import type { Stack } from "./stack.ts";

async function publish(
  stack: Stack,
  token: string,
): Promise<{ status: number; challenge: string; text: string }> {
  const answer = await fetch(`${stack.url}/v1/events`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/cloudevents+json",
    },
    body: JSON.stringify({
      specversion: "1.0",
      id: randomUUID(),
      type: "test.machine.v1",
      source: "/machines",
      time: new Date().toISOString(),
    }),
  });
  const challenge = answer.headers.get("www-authenticate") ?? "";
  return { status: answer.status, challenge, text: await answer.text() };
}

test("a machine publishes with a token that the provider gave it", async ({ stack }) => {
  const token = await stack.provider.machineToken();
  expect(await publish(stack, token)).toMatchObject({ status: 200 });
  // With a letter of its signature changed it is nobody's.
  const letter = token.slice(-20, -19) === "A" ? "B" : "A";
  const forged = token.slice(0, -20) + letter + token.slice(-19);
  expect(await publish(stack, forged)).toMatchObject({
    status: 401,
    challenge: expect.stringContaining("Bearer"),
  });
});

test("a machine's token for another program is refused @audience", async ({ stack }) => {
  const token = (await stack.provider.strangersToken?.()) ?? "";
  expect(await publish(stack, token)).toMatchObject({
    status: 401,
    challenge: expect.stringContaining("Bearer"),
    text: expect.stringContaining("TOKEN_INVALID"),
  });
});

test("people and machines go on when the provider changes its key @keys", async ({
  page,
  stack,
  browser,
}) => {
  const { provider } = stack;
  await signIn(page, stack, provider.people.analyst);
  expect(await publish(stack, await provider.machineToken())).toMatchObject({ status: 200 });
  await provider.rotateKeys?.();
  await expect
    .poll(() => provider.machineToken().then((token) => publish(stack, token)))
    .toMatchObject({ status: 200 });
  const second = await browser.newPage();
  await signIn(second, stack, provider.people.operator);
  expect(await rolesOf(second.context(), stack)).toEqual(["analyst", "operator"]);
  expect(await whoIs(page.context(), stack)).toMatchObject({ name: provider.people.analyst.name });
  await second.context().close();
});
