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
  vi.stubGlobal("fetch", async () => {
    asked++;
    return now();
  });
  const client = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } },
  });
  const reload = vi.fn();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useSessionWatch(reload), { wrapper });
  return {
    result,
    reload,
    asked: () => asked,
    become: (next: () => Response) => {
      now = next;
    },
  };
}

const show = () => act(async () => void document.dispatchEvent(new Event("visibilitychange")));

test("who signs in elsewhere as someone else does not see what another has read", async () => {
  const { result, reload, become } = watch(() => Response.json(session("admin")));
  await waitFor(() => expect(result.current.session?.name).toBe("admin-1"));
  become(() => refused(401, "SESSION_EXPIRED"));
  await act(async () => void (await request("/v1/tokens").catch(() => undefined)));
  expect(result.current.over).toBe(true);
  expect(result.current.session?.name).toBe("admin-1");
  become(() => Response.json(session("analyst")));
  await show();
  await waitFor(() => expect(reload).toHaveBeenCalledOnce());
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
