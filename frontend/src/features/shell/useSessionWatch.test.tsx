// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { request } from "#/lib/http.ts";
import { refused, session } from "#/testing.tsx";
import { useSessionWatch } from "./useSessionWatch.ts";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function watch(answer: () => Response) {
  let now = answer;
  let asked = 0;
  const sent: (string | null)[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    asked++;
    sent.push(new Headers(init.headers).get("Oriel-Caller"));
    return now();
  });
  const client = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } },
  });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useSessionWatch(), { wrapper });
  return {
    result,
    client,
    sent,
    asked: () => asked,
    become: (next: () => Response) => {
      now = next;
    },
  };
}

const show = () => act(async () => void document.dispatchEvent(new Event("visibilitychange")));

/** What other tabs would be told with. */
class Channel {
  static readonly all = new Set<Channel>();
  readonly told: unknown[] = [];
  onmessage: ((event: { data: unknown }) => void) | undefined;
  constructor() {
    Channel.all.add(this);
  }
  postMessage(data: unknown): void {
    this.told.push(data);
  }
  close(): void {
    Channel.all.delete(this);
  }
}

const signedIn = () => Response.json(session("admin"));

test("who signs in elsewhere as someone else does not see what another has read", async () => {
  const { result, client, become } = watch(signedIn);
  await waitFor(() => expect(result.current.pending).toBe(false));
  client.setQueryData(["tokens"], ["of admin"]);
  become(() => refused(401, "SESSION_EXPIRED"));
  await act(async () => void (await request("/v1/tokens").catch(() => undefined)));
  expect(result.current.over).toBe(true);
  expect(result.current.session?.name).toBe("admin-1");
  become(() => Response.json(session("analyst")));
  await show();
  await waitFor(() => expect(result.current.session?.name).toBe("analyst-1"));
  expect(result.current.pending).toBe(false);
  expect(client.getQueryData(["tokens"])).toBeUndefined();
  expect(result.current.swap).toEqual({ refused: false });
});

test("every request names whom the page shows, and one refused as another's finds out who is there", async () => {
  const { result, sent, become } = watch(() => Response.json(session("admin", { id: "https://ü#100% a" })));
  await waitFor(() => expect(result.current.pending).toBe(false));
  expect(sent).toEqual([null]);
  const answers = [refused(409, "CALLER_CHANGED")];
  become(() => answers.pop() ?? Response.json(session("operator")));
  await act(async () => {
    await request("/v1/tokens", { method: "POST" }).catch(() => undefined);
  });
  expect(sent[1]).toBe("https://%C3%BC#100%25%20a");
  await waitFor(() => expect(result.current.swap).toEqual({ refused: true }));
  expect(result.current.session?.name).toBe("operator-1");
  await act(async () => void (await request("/v1/tokens").catch(() => undefined)));
  expect(sent.at(-1)).toBe("issuer#operator");
  act(() => result.current.swapRead());
  expect(result.current.swap).toBeUndefined();
});

test("tabs tell each other whom they show, and only one that shows someone else asks", async () => {
  vi.stubGlobal("BroadcastChannel", Channel);
  Channel.all.clear();
  const { result, asked, become } = watch(signedIn);
  await waitFor(() => expect(result.current.pending).toBe(false));
  const [channel] = Channel.all;
  const told = channel?.told[0];
  expect(channel?.told).toEqual([{ session: expect.stringContaining("issuer#admin") }]);
  const hear = (data: unknown) => act(async () => channel?.onmessage?.({ data }));
  await hear(told);
  await hear("nonsense");
  expect(asked()).toBe(1);
  become(() => refused(401, "SIGN_IN_NEEDED"));
  await hear({ session: "" });
  await waitFor(() => expect(result.current.over).toBe(true));
  expect(asked()).toBe(2);
});

test("a page that becomes visible asks again, but not each time", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { result, asked, become } = watch(() => Response.json(session("admin")));
  await waitFor(() => expect(result.current.session).toBeDefined());
  await show();
  expect(asked()).toBe(1);
  vi.setSystemTime(Date.now() + 31_000);
  become(() => refused(401, "SESSION_EXPIRED"));
  await show();
  await waitFor(() => expect(result.current.over).toBe(true));
  expect(asked()).toBe(2);
  // What was lost may come back at any moment.
  become(() => Response.json(session("admin")));
  vi.setSystemTime(Date.now() + 1000);
  await show();
  await waitFor(() => expect(result.current.over).toBe(false));
});

test("a server that does not answer is no sign-out", async () => {
  const { result } = watch(() => refused(503, "DATABASE_UNAVAILABLE"));
  await waitFor(() => expect(result.current.error?.code).toBe(503));
  expect(result.current.over).toBe(false);
  expect(result.current.pending).toBe(false);
});
