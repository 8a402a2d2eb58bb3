import { execFileSync } from "node:child_process";
import type { Page } from "@playwright/test";
import { drawer, expect, openRow, readDemo, rows, type Sent, settled, test, uniqueWord } from "./fixtures.ts";

function around(page: Page) {
  return page.getByRole("region", { name: "Surroundings" });
}

function neighbours(page: Page) {
  return around(page)
    .getByRole("list", { name: /Events around it/ })
    .getByRole("listitem");
}

function at(second: number): string {
  return new Date(
    Date.parse("2026-11-20T10:00:00Z") + second * 1000 + Math.floor(Math.random() * 900),
  ).toISOString();
}

test("the events around one follow its subject, source or trace, or are all there were", async ({
  page,
  api,
}) => {
  const name = uniqueWord();
  const traceparent = `00-${"4bf92f3577b34da6a3ce929d0e0e4736"}-00f067aa0ba902b7-01`;
  const send = (type: string, second: number, subject: string | undefined, source: string, trace = false) =>
    api.send({
      type,
      time: at(second),
      source: `/${name}/${source}`,
      ...(subject !== undefined && { subject: `${name}-${subject}` }),
      ...(trace && { extensions: { traceparent } }),
      body: `{"w":"${name}"}`,
    });
  await send("before.subject", 1, "a", "other");
  await send("before.source", 2, "b", "shop");
  const anchor = await send("the.anchor", 3, "a", "shop", true);
  await send("after.subject", 4, "a", "other", true);
  await page.goto(anchor.path);
  const types = async () =>
    (await neighbours(page).locator("[title*='.']:not(time)").allTextContents()).filter((text) =>
      text.includes("."),
    );
  await expect.poll(types).toEqual(["after.subject", "the.anchor", "before.subject"]);
  await expect(neighbours(page).nth(1)).toHaveAttribute("aria-current", "true");
  await expect(neighbours(page).nth(1)).toContainText("this event");

  await around(page).getByRole("button", { name: "Source" }).click();
  await expect.poll(types).toEqual(["the.anchor", "before.source"]);
  expect(page.url()).toContain("around=source");
  await page.reload();
  await expect.poll(types).toEqual(["the.anchor", "before.source"]);
  await around(page).getByRole("button", { name: "Trace" }).click();
  await expect.poll(types).toContain("after.subject");
  await around(page).getByRole("button", { name: "Subject" }).click();

  await neighbours(page).first().getByRole("link").click();
  await expect(page.getByRole("heading", { name: "after.subject" })).toBeVisible();
  await page.goBack();
  await expect(page.getByRole("heading", { name: "the.anchor" })).toBeVisible();
});

test("five more each way are loaded at a time, to the end", async ({ page, api }) => {
  const subject = uniqueWord();
  const sent: Sent[] = [];
  for (let i = 0; i < 15; i++) sent.push(await api.send({ subject, time: at(i * 2), body: `{"i":${i}}` }));
  await page.goto(sent[7]?.path ?? "");
  await expect(neighbours(page)).toHaveCount(11);
  await around(page).getByRole("button", { name: "Load 5 newer" }).click();
  await expect(neighbours(page)).toHaveCount(13);
  await around(page).getByRole("button", { name: "Load 5 older" }).click();
  await expect(neighbours(page)).toHaveCount(15);
  await expect(around(page)).toContainText("No more newer ones.");
  await expect(around(page)).toContainText(/No more older ones since/);
  const times = await neighbours(page)
    .locator("time")
    .evaluateAll((all) => all.map((time) => time.getAttribute("datetime")));
  expect(times).toEqual(times.toSorted().reverse());
});

test("what an event has not, its surroundings cannot go by, and say so", async ({ page, api }) => {
  const sent = await api.send({ body: "{}" });
  await page.goto(sent.path);
  await expect(around(page).getByRole("button", { name: "Source" })).toHaveAttribute("aria-pressed", "true");
  const subject = around(page).getByRole("button", { name: "Subject" });
  await expect(subject).toHaveAttribute("aria-disabled", "true");
  await subject.focus();
  await expect(subject).toHaveAccessibleDescription("This event has no subject.");
});

test("the filters of the search come along, switched off unless they are pinned", async ({ page, api }) => {
  const subject = uniqueWord();
  const source = `/${subject}`;
  await api.send({ subject, source, type: "kept.a", time: at(0), body: "{}" });
  await api.send({ subject, source, type: "kept.b", time: at(2), body: "{}" });
  await page.goto(`/explore?subject=${subject}&type=kept.a&from=-30d&pin=subject`);
  await openRow(page, 0);
  await expect(neighbours(page)).toHaveCount(2);
  const chips = around(page).getByRole("list", { name: "Filters of the search" });
  const type = chips.getByRole("button", { name: "type:kept.a" });
  await expect(type).toHaveAttribute("aria-pressed", "false");
  await expect(chips.getByRole("button", { name: /^subject:/ })).toHaveAttribute("aria-pressed", "true");
  await type.click();
  await expect(neighbours(page)).toHaveCount(1);
  await expect(around(page)).toContainText("None newer that match the filters.");
  await type.click();

  // On the event's own page they are at hand as well.
  await drawer(page).getByRole("link", { name: "Open as page" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "kept.a" })).toBeVisible();
  await expect(chips.getByRole("button", { name: "type:kept.a" })).toHaveAttribute("aria-pressed", "false");
  await around(page).getByRole("button", { name: "Search these" }).click();
  await settled(page);
  await expect(rows(page)).toHaveCount(2);
  expect(new URL(page.url()).searchParams.getAll("off")).toContain("type=kept.a");
});

test("a trace is one click away where the installation names a place", async ({ page, api }) => {
  const sent = await api.send({
    extensions: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" },
    body: "{}",
  });
  await page.goto(sent.path);
  const link = page.getByRole("link", { name: "Open trace" });
  await expect(link).toHaveAttribute(
    "href",
    "https://traces.example.com/trace/4bf92f3577b34da6a3ce929d0e0e4736?from=oriel",
  );
  await expect(link).toHaveAttribute("rel", "noreferrer");
  const without = await api.send({ body: "{}" });
  await page.goto(without.path);
  const off = page.getByRole("button", { name: "Open trace" });
  await off.focus();
  await expect(off).toHaveAccessibleDescription("This event has no trace.");
});

test("an event is copied as JSON, as a line and as commands that do what they say", async ({
  page,
  api,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const body =
    '{"id":9007199254740993, "f":1.0,\n "q":"it\'s $(touch x) ' +
    "`id`" +
    String.raw`", "b":1, "b":2, "nul":"\u0000", "lone":"\ud800"}`;
  const sent = await api.send({ subject: "it's", body });
  await page.goto(sent.path);
  const copy = async (item: RegExp) => {
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("menuitem", { name: item }).click();
    await expect(page.getByRole("status").filter({ hasText: "Copied" })).toBeVisible();
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const json = await copy(/^Event as JSON/);
  expect(json).toContain(`  "data": ${body}`);
  expect(JSON.parse(json)).toMatchObject({ specversion: "1.0", id: sent.id, subject: "it's" });
  expect(await copy(/^Event as NDJSON/)).not.toContain("\n");

  const { readerToken, producerToken } = readDemo();
  const run = (command: string, token: string) =>
    execFileSync("sh", ["-c", command], { env: { ...process.env, ORIEL_TOKEN: token }, encoding: "utf8" });
  const read = JSON.parse(run(await copy(/^curl that reads it/), readerToken)) as { dataText: string };
  expect(read.dataText).toBe(body);
  const published = JSON.parse(run(await copy(/^curl that publishes it/), producerToken)) as { name: string };
  expect(`/${published.name}`).toBe(sent.path.replace(/\?.*/, ""));
});

test("what is downloaded is the data byte for byte, under a name that is harmless", async ({ page, api }) => {
  const body = Uint8Array.from([...Buffer.from('{"a": "'), 0xff, 0x00, ...Buffer.from('"}')]);
  const sent = await api.send({ source: "/e2e/<script>", body });
  await page.goto(sent.path);
  const waiting = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download raw" }).click();
  const download = await waiting;
  expect(download.suggestedFilename()).not.toMatch(/[<>/\\]/);
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks)).toEqual(Buffer.from(body));
});

test("the operations of an event say when it was stored", async ({ page, api }) => {
  const sent = await api.send({ body: "{}" });
  await page.goto(sent.path);
  const panel = page.locator("section").filter({ has: page.getByRole("heading", { name: "Operations" }) });
  await expect(panel).toContainText("Received and stored");
});

test("raw shows text and bytes side by side", async ({ page, api }) => {
  const sent = await api.send({ body: '{"é":1}' });
  await page.goto(`${sent.path}&view=raw`);
  await page.getByRole("button", { name: "Both" }).click();
  await expect(page.getByRole("region", { name: "Data, as received" })).toContainText('{"é":1}');
  await expect(page.getByRole("region", { name: "Data, in hexadecimal" })).toContainText("7b 22 c3 a9");
});

test("a wheel over the data scrolls the event on, and never the page", async ({ page, api }) => {
  const word = uniqueWord();
  await api.send({ body: `{"w":"${word}"}` });
  await page.setViewportSize({ width: 1280, height: 600 });
  await page.goto(`/explore?q=${word}`);
  await openRow(page, 0);
  const tree = drawer(page).getByRole("tree");
  await expect(tree).toContainText(word);
  const body = page.getByTestId("event-body");
  await tree.hover();
  await page.mouse.wheel(0, 2000);
  await expect.poll(() => body.evaluate((element) => element.scrollTop)).toBeGreaterThan(50);
  await page.mouse.wheel(0, 4000);
  const overflow = () =>
    page.evaluate(() => {
      document.scrollingElement?.scrollTo(0, 500);
      document.querySelector("#root")?.scrollTo(0, 500);
      return window.scrollY + (document.querySelector("#root")?.scrollTop ?? 0);
    });
  expect(await overflow()).toBe(0);
});
