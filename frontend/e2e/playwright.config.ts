import { defineConfig } from "@playwright/test";
import { common } from "./browser.ts";

export default defineConfig({
  ...common,
  testDir: ".",
  // They start programs of their own.
  testIgnore: "signin/**",
  globalSetup: "./server.ts",
  fullyParallel: true,
});
