// One program for all tests of a run. With ORIEL_E2E_DEMO, the path of a running demo's demo.json, that
// one is used.
import { startDemo } from "./program.ts";

export default async function start(): Promise<(() => Promise<void>) | undefined> {
  if (process.env.ORIEL_E2E_DEMO) return undefined;
  const program = await startDemo();
  process.env.ORIEL_E2E_DEMO = program.demo;
  return program.stop;
}
