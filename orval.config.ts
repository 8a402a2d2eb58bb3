import { readFileSync, writeFileSync } from "node:fs";
import { defineConfig } from "orval";

const target = "frontend/src/api/oriel.gen.ts";

/**
 * Every list is a parameter that is repeated. What is generated repeats those that the contract names;
 * filters on `data.<path>`, `ext.<name>` and configured facets have names that it cannot.
 */
function repeatEveryList(): void {
  const named = /^ +const explodeParameters = .*\n\n/gm;
  const listed = "Array.isArray(value) && explodeParameters.includes(key)";
  const code = readFileSync(target, "utf8");
  writeFileSync(target, code.replaceAll(named, "").replaceAll(listed, "Array.isArray(value)"));
}

export default defineConfig({
  oriel: {
    input: "server/httpapi/openapi.yaml",
    output: {
      target,
      client: "fetch",
      // An event's name is escaped by contract (`{source}:{id}`) and goes into the path as it is;
      // escaping it once more would name another event.
      urlEncodeParameters: false,
      override: {
        mutator: { path: "frontend/src/lib/http.ts", name: "request" },
        fetch: { forceSuccessResponse: true, includeHttpResponseReturnType: false },
      },
    },
    hooks: { afterAllFilesWrite: repeatEveryList },
  },
});
