import { afterEach, expect, test, vi } from "vitest";
import { ApiError, request } from "./http.ts";

afterEach(() => vi.unstubAllGlobals());

async function failureOf(answer: () => Promise<Response>): Promise<ApiError> {
  vi.stubGlobal("fetch", answer);
  const error = await request("/v1/x").catch((thrown: unknown) => thrown);
  if (!(error instanceof ApiError)) throw new Error(`not an ApiError: ${String(error)}`);
  return error;
}

const envelope = {
  error: {
    code: 503,
    message: "32 queries are running.",
    status: "UNAVAILABLE",
    requestId: "req_1",
    details: [{ reason: "SEARCH_BUSY", domain: "oriel", message: "", metadata: {} }],
  },
};

test("an answer of the API keeps its message, status, reason and request id", async () => {
  const error = await failureOf(async () =>
    Response.json(envelope, { status: 503, headers: { "Retry-After": "2" } }),
  );
  expect(error).toMatchObject({
    code: 503,
    message: "32 queries are running.",
    status: "UNAVAILABLE",
    requestId: "req_1",
    retryAfter: 2,
  });
  expect(error.reason).toBe("SEARCH_BUSY");
  expect(error.transient).toBe(true);
});

test("an answer that is not the API's says that, with the request id of the header", async () => {
  for (const body of ["<html>502</html>", "null", '{"error":"text"}', '{"error":{}}']) {
    const error = await failureOf(
      async () => new Response(body, { status: 502, headers: { "X-Request-Id": "req_2" } }),
    );
    expect(error).toMatchObject({ code: 502, requestId: "req_2", details: [] });
    expect(error.message).toContain("not from Oriel's API");
  }
});

test("no answer is an error of its own that may pass", async () => {
  const error = await failureOf(() => Promise.reject(new TypeError("Failed to fetch")));
  expect(error).toMatchObject({ code: 0, status: "UNREACHABLE" });
  expect(error.transient).toBe(true);
});

test("an abort stays an abort", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new DOMException("stop", "AbortError")));
  await expect(request("/v1/x")).rejects.toMatchObject({ name: "AbortError" });
});
