import { defineConfig } from "orval";

export default defineConfig({
  oriel: {
    input: "server/httpapi/openapi.yaml",
    output: {
      target: "frontend/src/api/oriel.gen.ts",
      client: "fetch",
      // An event's name is escaped by contract (`{source}:{id}`) and goes into the path as it is;
      // escaping it once more would name another event.
      urlEncodeParameters: false,
      override: {
        mutator: { path: "frontend/src/lib/http.ts", name: "request" },
        fetch: { forceSuccessResponse: true, includeHttpResponseReturnType: false },
      },
    },
  },
});
