import { afterEach, expect, test, vi } from "vitest";
import { ApiError, request, watchSession } from "./http.ts";

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

function refusal(code: number, reason: string): () => Promise<Response> {
  const details = [{ reason, domain: "oriel", message: "", metadata: {} }];
  const error = { code, message: "No.", status: "X", requestId: "req_3", details };
  return async () => Response.json({ error }, { status: code });
}

test("whoever watches the session hears of its end, and of a role that is not there, before the request fails", async () => {
  const heard: string[] = [];
  const stop = watchSession((error) => heard.push(error.reason));
  for (const [code, reason] of [
    [401, "SESSION_EXPIRED"],
    [401, "SIGN_IN_NEEDED"],
    [403, "ROLE_MISSING"],
    // Of a token, or of something else.
    [401, "TOKEN_INVALID"],
    [403, "SCOPE_MISSING"],
    [403, "ORIGIN_NOT_ALLOWED"],
  ] as const) {
    const before = heard.length;
    const error = await failureOf(refusal(code, reason));
    expect(error.signedOut).toBe(code === 401 && reason !== "TOKEN_INVALID");
    expect(heard.length - before).toBe(
      ["SESSION_EXPIRED", "SIGN_IN_NEEDED", "ROLE_MISSING"].includes(reason) ? 1 : 0,
    );
  }
  stop();
  await failureOf(refusal(401, "SESSION_EXPIRED"));
  expect(heard).toEqual(["SESSION_EXPIRED", "SIGN_IN_NEEDED", "ROLE_MISSING"]);
});
