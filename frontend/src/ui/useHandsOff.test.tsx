// @vitest-environment jsdom
import { act, cleanup, fireEvent, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useHandsOff } from "./useHandsOff.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const start = () => renderHook(({ wanted }) => useHandsOff(wanted), { initialProps: { wanted: false } });
const wait = (ms: number) => act(() => vi.advanceTimersByTime(ms));

test("what comes unasked waits until nobody types, and then stays", () => {
  const hook = start();
  fireEvent.keyDown(document.body, { key: "a" });
  hook.rerender({ wanted: true });
  expect(hook.result.current).toBe(false);
  wait(800);
  fireEvent.keyDown(document.body, { key: "b" });
  wait(800);
  expect(hook.result.current).toBe(false);
  wait(300);
  expect(hook.result.current).toBe(true);
  fireEvent.keyDown(document.body, { key: "c" });
  expect(hook.result.current).toBe(true);
  hook.rerender({ wanted: false });
  expect(hook.result.current).toBe(false);
});

test("where no key was pressed it comes at once", () => {
  const hook = start();
  hook.rerender({ wanted: true });
  expect(hook.result.current).toBe(true);
});
