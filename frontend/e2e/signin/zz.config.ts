import { defineConfig } from "@playwright/test";
import { common } from "../browser.ts";
export default defineConfig({ ...common, testDir: ".", testMatch: "zz-probe.spec.ts", workers: 1, use: {...common.use, actionTimeout: 15000, navigationTimeout: 15000} });
