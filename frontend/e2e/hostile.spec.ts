import { drawer, expect, openRow, rows, test, uniqueWord } from "./fixtures.ts";

const markup = `<script>alert(1)</script><img src=x onerror=alert(2)>{{constructor.constructor('alert(3)')()}}`;

test("markup in type, subject, extension and data is text everywhere and nothing runs", async ({
  page,
  api,
}) => {
  const word = uniqueWord();
  const sent = await api.send({
    type: markup,
    subject: `javascript:alert(4) ${markup}`,
    source: "/e2e/<script>alert(6)</script>",
    extensions: { note: markup },
    body: JSON.stringify({ w: word, [markup]: markup, url: "javascript:alert(5)" }),
  });
  await page.goto(`/explore?q=${word}`);
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page).first().locator('[data-field="type"]')).toHaveAttribute("title", markup);
  await openRow(page, 0);
  await expect(drawer(page).getByRole("heading", { name: markup })).toBeVisible();
  await expect(drawer(page).getByRole("definition").getByText(markup).first()).toBeVisible();
  const leaf = drawer(page).getByRole("treeitem", { name: "onerror" });
  await leaf.first().hover();
  await drawer(page)
    .getByRole("button", { name: /^More for data/ })
    .click();
  await expect(page.getByRole("menu")).toContainText("<script>");
  await page.keyboard.press("Escape");
  await expect(drawer(page).getByRole("list", { name: /Events around it/ })).toContainText("<script>");
  await drawer(page).getByRole("tab", { name: "Raw" }).click();
  await expect(drawer(page).getByRole("region", { name: "Data, as received" })).toContainText(
    "onerror=alert(2)",
  );

  await page.goto(`/explore?type=${encodeURIComponent(markup)}&q=${encodeURIComponent(`${word} <b>x</b>`)}`);
  await expect(page.getByRole("button", { name: /^Change filter: type is/ })).toContainText("<script>");
  await page.goto(sent.path);
  await expect(page.getByRole("heading", { name: markup })).toBeVisible();
  expect(await page.locator("script:not([src])").count()).toBe(0);
  expect(await page.locator("img").count()).toBe(0);
});

test("a producer's page never opens on our origin", async ({ page, api }) => {
  const sent = await api.send({ contentType: "text/html", body: "<script>alert(1)</script>" });
  const answer = await page.request.get(`/v1${sent.path.replace("?", "/data?")}`);
  expect(answer.headers()["content-disposition"]).toMatch(/^attachment/);
  expect(answer.headers()["content-type"]).toBe("application/octet-stream");
  expect(answer.headers()["content-security-policy"]).toContain("sandbox");
});

test("the policy holds: no inline script, no inline style, and the page needs neither", async ({ page }) => {
  const answer = await page.goto("/explore");
  const policy = answer?.headers()["content-security-policy"] ?? "";
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "require-trusted-types-for 'script'",
  ]) {
    expect(policy).toContain(part);
  }
  expect(policy).not.toContain("unsafe");
  const html = (await answer?.text()) ?? "";
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)/);
  expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
  await expect(rows(page).first()).toBeVisible();
});

test("the watch on the policy sees a violation", async ({ page, faults }) => {
  await page.goto("/explore");
  await page.evaluate(() => {
    const style = document.createElement("div");
    style.setAttribute("style", "color: red");
    document.body.append(style);
  });
  await expect.poll(() => faults.length).toBe(1);
  expect(faults.splice(0)[0]).toContain("style-src");
});
