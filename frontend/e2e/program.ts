// Starts the built program as a user would, `oriel demo`, on a free port and an empty data folder, and
// stops it.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const binary = fileURLToPath(new URL("../../bin/oriel", import.meta.url));
const startLimit = 120_000;
const stopLimit = 60_000;

export interface Program {
  /** The path of its demo.json. */
  readonly demo: string;
  /** Ends it, and fails where it did not end well. */
  readonly stop: () => Promise<void>;
}

/** Starts it with the given variables added to ours, and waits until it is ready. */
export async function startDemo(variables: Readonly<Record<string, string>> = {}): Promise<Program> {
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run \`make build\` first`);
  const folder = mkdtempSync(join(tmpdir(), "oriel-e2e-"));
  // PostgreSQL runs as another user and must be able to pass through.
  chmodSync(folder, 0o711);
  const data = join(folder, "data");
  const log = join(folder, "oriel.log");
  const child = spawn(binary, ["demo"], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: {
      ...process.env,
      ORIEL_ADDR: variables.ORIEL_ADDR ?? `127.0.0.1:${await freePort()}`,
      ORIEL_DATA_DIR: data,
      ...variables,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const sink = createWriteStream(log);
  child.stdout.pipe(sink, { end: false });
  child.stderr.pipe(sink, { end: false });
  const demo = join(data, "demo.json");
  const stop = async () => {
    await end(child);
    sink.end();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await ready(child, demo);
  } catch (error) {
    child.kill("SIGKILL");
    const tail = existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(-30).join("\n") : "";
    throw new Error(`oriel demo did not start: ${String(error)}\n${tail}`);
  }
  return { demo, stop };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** Waits for demo.json, and for the first answer of a ready server. */
async function ready(child: ChildProcess, demo: string): Promise<void> {
  const until = Date.now() + startLimit;
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
    if (existsSync(demo) && (await answers(demo))) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`not ready within ${startLimit / 1000} s`);
}

async function answers(demo: string): Promise<boolean> {
  try {
    const { url } = JSON.parse(readFileSync(demo, "utf8")) as { url: string };
    return (await fetch(`${url}/health/ready`)).ok;
  } catch {
    return false;
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise<number | null>((resolve) => {
    if (child.exitCode !== null) resolve(child.exitCode);
    else child.once("exit", (code) => resolve(code));
  });
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), stopLimit);
  const code = await ended;
  clearTimeout(late);
  if (code !== 0)
    throw new Error(`oriel demo ended with ${code === null ? "a signal" : `code ${code}`} after SIGTERM`);
}
