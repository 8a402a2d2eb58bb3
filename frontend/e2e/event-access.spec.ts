import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { drawer, expect, openRow, test, uniqueWord } from "./fixtures.ts";

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

async function violations(page: Page, inside: string): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page }).include(inside).withTags(tags).analyze();
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)}`));
}

for (const theme of ["dark", "light"] as const) {
  test(`nothing of an event is in the way of assistive technology, ${theme}`, async ({ page, api }) => {
    test.slow();
    const subject = uniqueWord();
    const sent = await api.send({
      subject,
      extensions: { severity: "warning" },
      body: `{"a":1,"a":9007199254740993,"nul":"\\u0000","n":null,"nested":{"b":[true,{}]},"long":"${"x".repeat(9000)}"}`,
    });
    await api.send({ subject, body: "{}" });
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.goto(sent.path);
    await expect(page.getByText("this event", { exact: true })).toBeVisible();
    await page.getByRole("tree").focus();
    await page.keyboard.press("ArrowDown");
    expect(await violations(page, "main")).toEqual([]);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("menu")).toBeVisible();
    expect(await violations(page, "main")).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("treeitem", { name: /^nested/ }).click();
    await page.keyboard.press("ContextMenu");
    await page.getByRole("menuitem", { name: "Show this part alone" }).click();
    expect(await violations(page, "main")).toEqual([]);
    await page.getByRole("tab", { name: "Pretty" }).click();
    expect(await violations(page, "main")).toEqual([]);
    await page.getByRole("tab", { name: "Raw" }).click();
    await page.getByRole("button", { name: "Both" }).click();
    expect(await violations(page, "main")).toEqual([]);

    await page.goto(`/explore?subject=${subject}&type=test.event.v1`);
    await openRow(page, 1);
    await expect(drawer(page).getByText("this event", { exact: true })).toBeVisible();
    expect(await violations(page, "aside[aria-label=Event]")).toEqual([]);
  });
}
