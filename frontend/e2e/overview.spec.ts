import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "./fixtures.ts";

test("every number of the overview is the number of the search that it opens", async ({ page, api }) => {
  // What is of a while ago has arrived.
  await page.goto("/overview?from=-12h&until=-5m");
  const mix = page.getByRole("region", { name: "Severity mix" });
  const link = mix.getByRole("link").first();
  const said = (await link.textContent())?.trim().split(" ")[0]; // the share stands behind it
  const href = (await link.getAttribute("href")) ?? "";
  const params = new URLSearchParams(href.slice(href.indexOf("?")));
  expect(params.get("until")).toMatch(/^\d{4}-/);
  const filter: Record<string, string[]> = {};
  for (const name of new Set(params.keys())) filter[name] = params.getAll(name);
  expect((await api.count(filter)).toLocaleString("en")).toBe(said);
  await link.click();
  await expect(page).toHaveURL(/\/explore\?.*until=\d{4}/);
});

test("bars are walked by keys and open their part of the window", async ({ page, api }) => {
  await api.send({ extensions: { severity: "error" } });
  await page.goto("/overview");
  const bars = page.getByRole("group", { name: /^Events over time/ }).getByRole("link");
  await expect(bars.first()).toBeVisible();
  await bars.first().focus();
  await page.keyboard.press("End");
  await expect(bars.last()).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/explore\?from=\d{4}.*until=\d{4}/);
});

test("the pipeline and the alerts are told, and the window is chosen", async ({ page }) => {
  await page.goto("/overview");
  await expect(page.getByRole("region", { name: "Pipeline" })).toContainText(/behind|lag not known/);
  await expect(page.getByRole("region", { name: "Alerts" })).toContainText(/None of|ago/);
  await page.getByRole("button", { name: /^Last 24 hours/ }).click();
  await page.getByRole("button", { name: /^Last 1 hour/ }).click();
  await expect(page).toHaveURL(/from=-1h/);
  await expect(page.getByRole("button", { name: /^Last 1 hour/ })).toBeVisible();
});

for (const theme of ["dark", "light"] as const) {
  test(`nothing of the overview is in the way of assistive technology, ${theme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: theme });
    await page.goto("/overview");
    await expect(page.getByRole("region", { name: "Severity mix" }).getByRole("link").first()).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual(
      [],
    );
  });
}
