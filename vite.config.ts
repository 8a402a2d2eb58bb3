import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import { tanstackRouter } from "@tanstack/router-plugin/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The server to develop against: a running `oriel demo`, whose address is in its demo.json.
const backend = process.env.ORIEL_DEV_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  root: "frontend",
  // The server writes the path it is shown under before these; code that comes later is found from the
  // file that asks for it.
  base: "./",
  // Beside the packages, not in the root that is served.
  cacheDir: "../node_modules/.vite",
  plugins: [
    tanstackRouter({
      target: "react",
      // The parts that come later are named in parts.ts, where a failure to load is dealt with.
      autoCodeSplitting: false,
      routesDirectory: "src/routes",
      generatedRouteTree: "src/routeTree.gen.ts",
      quoteStyle: "double",
      semicolons: true,
    }),
    react(),
    tailwindcss(),
  ],
  resolve: { alias: { "#": fileURLToPath(new URL("./frontend/src", import.meta.url)) } },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2023",
    // light-dark() must reach the browser as it is: the theme switch works through color-scheme.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // A data: URL would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    sourcemap: false,
  },
  // Sign in at the server itself: its cookie holds for every port of the host.
  server: { proxy: { "/v1": { target: backend, changeOrigin: true, headers: { origin: backend } } } },
  test: {
    environment: "node",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test-setup.ts"],
    testTimeout: 30_000,
    restoreMocks: true,
  },
});
