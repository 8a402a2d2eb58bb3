// One program for all tests of a run, at which each of its people has signed in once. With ORIEL_E2E_DEMO,
// the path of a running demo's demo.json, that one is used.
import { signInAll } from "./people.ts";
import { startDemo } from "./program.ts";

const traceUrl = "https://traces.example.com/trace/{traceId}?from=oriel";

export default async function start(): Promise<() => Promise<void>> {
  const running = process.env.ORIEL_E2E_DEMO;
  const program = running ? undefined : await startDemo({ ORIEL_TRACE_URL: traceUrl });
  const demo = running ?? program?.demo ?? "";
  try {
    const { folder, remove } = await signInAll(demo);
    process.env.ORIEL_E2E_DEMO = demo;
    process.env.ORIEL_E2E_PEOPLE = folder;
    return async () => {
      remove();
      await program?.stop();
    };
  } catch (error) {
    await program?.stop();
    throw error;
  }
}
