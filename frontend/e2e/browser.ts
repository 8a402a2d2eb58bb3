import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { PlaywrightTestConfig } from "@playwright/test";

function chromium(): string {
  if (process.env.ORIEL_CHROMIUM) return process.env.ORIEL_CHROMIUM;
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    } catch {
      // The next name.
    }
  }
  throw new Error(
    "no Chromium found: install it (apt-get install chromium) or set ORIEL_CHROMIUM to its path",
  );
}

/** What every configuration of the browser tests has. */
export const common: PlaywrightTestConfig = {
  outputDir: fileURLToPath(new URL("../../test-results", import.meta.url)),
  workers: 2,
  forbidOnly: Boolean(process.env.CI),
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    colorScheme: "dark",
    timezoneId: "Europe/Berlin",
    trace: "retain-on-failure",
    launchOptions: {
      executablePath: chromium(),
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
};
