import AxeBuilder from "@axe-core/playwright";
import type { Page } from "@playwright/test";

const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** What lies over a page: a dialog, a menu, a panel. */
export const over = "dialog[open], [role=dialog], [role=alertdialog], [role=menu], [role=listbox]";

/** All that axe finds on the page as it is now, or in a part of it, which must be there. */
export async function violations(page: Page, part = "html"): Promise<string[]> {
  // Colours are measured once nothing moves.
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished)));
  const { violations: found } = await new AxeBuilder({ page }).include(part).withTags(tags).analyze();
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`),
  );
}
