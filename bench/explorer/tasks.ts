/** How long tasks hold the thread of a page, from Chromium's own trace. */
import type { Browser, Page } from "@playwright/test";

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** The longest task while something is done, in ms on the clock; and the one that computed longest, in ms of that. */
export async function longestTask(
  browser: Browser,
  page: Page,
  act: () => Promise<void>,
): Promise<{ wall: number; cpu: number }> {
  await browser.startTracing(page, { categories: ["toplevel"] });
  let trace: Buffer;
  try {
    await act();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(trace.toString("utf8")) as { traceEvents: readonly TraceEvent[] };
  const main = new Set(
    traceEvents
      .filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain")
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = traceEvents.filter(
    ({ ph, name, pid, tid }) => ph === "X" && name.endsWith("RunTask") && main.has(`${pid} ${tid}`),
  );
  if (tasks.length === 0) throw new Error("the trace has no task of a page");
  const longest = (time: (task: TraceEvent) => number | undefined) =>
    tasks.reduce((most, task) => Math.max(most, time(task) ?? 0), 0) / 1000;
  return { wall: longest(({ dur }) => dur), cpu: longest(({ tdur }) => tdur) };
}

/** How long the page's thread computes while something is done, in ms of the processor's time. */
export async function computed(page: Page, act: () => Promise<void>): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN;
  };
  const before = await spent();
  await act();
  const after = await spent();
  await devtools.detach();
  return (after - before) * 1000;
}

/** Does something, and hands a trace of it with a profile over where that is asked for. */
export async function profiled(
  browser: Browser,
  page: Page,
  keep: ((trace: Buffer) => void) | undefined,
  act: () => Promise<void>,
): Promise<void> {
  if (!keep) return act();
  await browser.startTracing(page, {
    categories: [
      "-*",
      "toplevel",
      "blink.user_timing",
      "devtools.timeline",
      "disabled-by-default-devtools.timeline",
      "disabled-by-default-v8.cpu_profiler",
      "v8.execute",
    ],
  });
  try {
    await act();
  } finally {
    keep(await browser.stopTracing());
  }
}
