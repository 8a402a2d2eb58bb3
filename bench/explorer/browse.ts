// Looks at the explorer in headless Chromium and prints, as one line of JSON, what it measured. What it is
// asked for is the JSON of its argument; see browser.go for both.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "@playwright/test";
import { common } from "../../frontend/e2e/browser.ts";
import { signIn } from "../../frontend/e2e/people.ts";
import { type Clock, instruments } from "./instruments.ts";
import { computed, longestTask, profiled } from "./tasks.ts";

interface Errand {
  readonly demo: string;
  readonly month: string;
  readonly large: string;
  readonly rounds: number;
  readonly rows: number;
  readonly trace: string;
}

/** What something took, round by round: on the clock, and of the processor's time. */
interface Took {
  readonly wall: number[];
  readonly cpu: number[];
}

/** What is typed: a query with fields, values, an operator and words, as completion knows them. */
const query = 'type:example.device.failed data.reading.value > 20 -severity:debug "battery level" pump';
/** A person who types fast. */
const keystroke = 60;
const limit = 60_000;

const errand = JSON.parse(process.argv[2] ?? "{}") as Errand;
const { url, users } = JSON.parse(readFileSync(errand.demo, "utf8")) as Parameters<typeof signIn>[1];

const browser = await chromium.launch(common.use?.launchOptions);
try {
  const state = await signedIn(browser);
  const first = await coldVisits(browser, state);
  const busy = await atManyRows(browser, state);
  const answer = {
    ...first,
    ...busy,
    open: await largeEvent(browser, state),
    pick: await picks(browser, state),
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
} finally {
  await browser.close();
}

type State = Awaited<ReturnType<BrowserContext["storageState"]>>;

async function signedIn(browser: Browser): Promise<State> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await signIn(page, { url, users }, "analyst");
  await page.getByRole("grid", { name: "Events" }).waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** A browser of somebody who is signed in, with empty caches. */
async function fresh(browser: Browser, state: State): Promise<Page> {
  const context = await browser.newContext({
    storageState: state,
    viewport: common.use?.viewport ?? null,
    colorScheme: "dark",
    timezoneId: "Europe/Berlin",
  });
  await context.addInitScript(instruments);
  const page = await context.newPage();
  page.setDefaultTimeout(limit);
  return page;
}

async function coldVisits(browser: Browser, state: State) {
  const bare: number[] = [];
  const firstRows: number[] = [];
  let scripts: readonly string[] = [];
  for (let round = 0; round < errand.rounds; round++) {
    const plain = await fresh(browser, state);
    await plain.goto(`${url}/health/ready`);
    bare.push(await plain.evaluate(() => performance.now()));
    await plain.context().close();

    const page = await fresh(browser, state);
    const visit = async () => {
      await page.goto(url + errand.month, { waitUntil: "commit" });
      await page.waitForFunction(() => clock.firstRows !== undefined);
    };
    await (round === 0 ? profiled(browser, page, fileFor("first-rows"), visit) : visit());
    const seen = await page.evaluate(() => clock.firstRows);
    if (seen) {
      firstRows.push(seen.at);
      scripts = seen.scripts;
    }
    await page.context().close();
  }
  return { bare, firstRows, scripts };
}

async function atManyRows(browser: Browser, state: State) {
  const page = await fresh(browser, state);
  await page.goto(url + errand.month);
  const grid = page.getByRole("grid", { name: "Events" });
  await grid.locator("[data-index]").first().waitFor();
  const rows = await loadRows(page);
  const typing: Took = { wall: [], cpu: [] };
  const scrolling: Took = { wall: [], cpu: [] };
  const rounds = Math.max(1, Math.ceil(errand.rounds / 2));
  for (let round = 0; round < rounds; round++) {
    add(scrolling, await longestTask(browser, page, () => scroll(page)));
    add(typing, await longestTask(browser, page, () => typeQuery(page)));
    await clearQuery(page);
  }
  if (errand.trace !== "") {
    await profiled(browser, page, fileFor("scrolling"), () => scroll(page));
    await profiled(browser, page, fileFor("typing"), () => typeQuery(page));
  }
  await page.context().close();
  return { rows, typing, scrolling };
}

function add(took: Took, round: { wall: number; cpu: number }): void {
  took.wall.push(round.wall);
  took.cpu.push(round.cpu);
}

/** Goes on to the end until so many rows are loaded, or there are no more. */
async function loadRows(page: Page): Promise<number> {
  const grid = page.getByRole("grid", { name: "Events" });
  await grid.focus();
  for (;;) {
    await page.keyboard.press("End");
    const loaded = await page.evaluate(() => clock.lastRow());
    if (loaded >= errand.rows || (await grid.getAttribute("aria-rowcount")) !== "-1") return loaded;
    await page.waitForFunction((before) => {
      clock.toEnd();
      return clock.lastRow() > before;
    }, loaded);
  }
}

/** From the first row to far down by the wheel, and back by pages, jumps and the wheel. */
async function scroll(page: Page): Promise<void> {
  const grid = page.getByRole("grid", { name: "Events" });
  await grid.focus();
  await page.keyboard.press("Home");
  await grid.hover({ position: { x: 200, y: 300 } });
  for (let step = 0; step < 60; step++) {
    await page.mouse.wheel(0, 100 + step * 20);
    await page.evaluate(() => clock.frame());
  }
  for (let step = 0; step < 15; step++) {
    await page.keyboard.press("PageDown");
    await page.evaluate(() => clock.frame());
  }
  for (const key of ["Home", "End", "Home"]) {
    await page.keyboard.press(key);
    await page.evaluate(() => clock.frame());
  }
}

async function typeQuery(page: Page): Promise<void> {
  await page.getByLabel("Words to find").focus();
  await page.keyboard.type(query, { delay: keystroke });
}

async function clearQuery(page: Page): Promise<void> {
  await page.getByLabel("Words to find").fill("");
  await page.keyboard.press("Escape");
}

async function largeEvent(browser: Browser, state: State): Promise<Took> {
  const open: Took = { wall: [], cpu: [] };
  for (let round = 0; round < errand.rounds; round++) {
    const page = await fresh(browser, state);
    await page.goto(url + errand.large, { waitUntil: "networkidle" });
    const time = page.locator('[data-index] [data-field="time"]').first();
    await time.waitFor();
    const act = async () => {
      await page.evaluate(() => clock.expectTree());
      await time.click();
      await page.waitForFunction(() => clock.took !== undefined);
    };
    const cpu = await computed(page, () =>
      round === 0 ? profiled(browser, page, fileFor("large-event"), act) : act(),
    );
    add(open, { wall: await page.evaluate(() => clock.took ?? Number.NaN), cpu });
    await page.context().close();
  }
  return open;
}

async function picks(browser: Browser, state: State): Promise<Took> {
  const took: Took = { wall: [], cpu: [] };
  const page = await fresh(browser, state);
  await page.goto(url + errand.month, { waitUntil: "networkidle" });
  const values = page.locator('ul[aria-label^="Values of"] [role="checkbox"]');
  await values.first().waitFor();
  const names = await values.evaluateAll((all) =>
    all.map((value) => [
      value.closest("ul")?.getAttribute("aria-label") ?? "",
      value.getAttribute("aria-label")?.split(",")[0] ?? "",
    ]),
  );
  for (let round = 0; round < errand.rounds; round++) {
    const [field = "", name = ""] = names[round % names.length] ?? [];
    const value = page.locator(`ul[aria-label="${field}"]`).getByRole("checkbox", { name: `${name},` });
    const pick = async () => {
      await page.evaluate(() => clock.expectRows());
      await value.click();
      await page.waitForFunction(() => clock.took !== undefined);
    };
    const cpu = await computed(page, () =>
      round === 0 ? profiled(browser, page, fileFor("pick"), pick) : pick(),
    );
    add(took, { wall: await page.evaluate(() => clock.took ?? Number.NaN), cpu });
    await page.goto(url + errand.month, { waitUntil: "networkidle" });
    await values.first().waitFor();
  }
  await page.context().close();
  return took;
}

/** Where a trace goes; nowhere unless it is asked for. */
function fileFor(name: string): ((trace: Buffer) => void) | undefined {
  if (errand.trace === "") return undefined;
  mkdirSync(errand.trace, { recursive: true });
  return (trace) => writeFileSync(join(errand.trace, `${name}.json`), trace);
}

declare global {
  // What instruments puts into each page.
  var clock: Clock;
}
