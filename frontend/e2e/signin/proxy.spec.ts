import { cookiesOf, expect, leave, rolesOf, test, whoIs } from "./fixtures.ts";
import { TlsProxy } from "./proxy.ts";
import { startStack } from "./stack.ts";

test.use({ ignoreHTTPSErrors: true });

test("behind a proxy that ends TLS, under a path, people sign in and out @proxy", async ({ page, kind }) => {
  let proxy: TlsProxy | undefined;
  const stack = await startStack(kind, {
    publicUrl: async (port) => {
      proxy = await TlsProxy.to(port, "/oriel");
      return proxy.url;
    },
  });
  try {
    const { analyst } = stack.provider.people;
    for (const strips of [false, true]) {
      await test.step(strips ? "it takes the path off" : "it leaves the path", async () => {
        if (proxy) proxy.strips = strips;
        await page.goto(`${stack.url}/explore?q=greenhouse`);
        await page.getByRole("link", { name: /^Sign in with / }).click();
        await stack.provider.signIn(page, analyst);
        await expect(page.getByLabel("Words to find")).toHaveValue("greenhouse");
        expect(page.url().startsWith(`${stack.url}/explore?`)).toBe(true);
        expect(await rolesOf(page.context(), stack)).toEqual(["analyst"]);
        const session = (await cookiesOf(page.context(), stack)).find(
          ({ name }) => name === "__Secure-oriel",
        );
        expect(session).toMatchObject({ path: "/oriel", secure: true, httpOnly: true, sameSite: "Lax" });

        await page.goto(`${stack.url}/admin/tokens`);
        await expect(page.getByRole("heading", { name: "Tokens need the admin role" })).toBeVisible();
        await leave(page, "Sign out");
        await stack.provider.confirmSignOut(page);
        await expect(page).toHaveURL(`${stack.url}/signed-out`);
        expect(await whoIs(page.context(), stack)).toBe(401);
      });
    }
  } finally {
    await stack.stop();
    await proxy?.stop();
  }
});
