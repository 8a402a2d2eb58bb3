// @vitest-environment jsdom
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { useHistogramShown } from "./HistogramBox.tsx";

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  localStorage.clear();
});

function height(short: boolean): void {
  const media = { matches: short, addEventListener: () => undefined, removeEventListener: () => undefined };
  vi.stubGlobal("matchMedia", () => media);
}

test("with little height the histogram is shown only to those who asked for it", () => {
  height(true);
  const { result, unmount } = renderHook(useHistogramShown);
  expect(result.current[0]).toBe(false);
  act(() => result.current[1](true));
  expect(result.current[0]).toBe(true);
  unmount();
  expect(renderHook(useHistogramShown).result.current[0]).toBe(true);
});

test("with height enough it is shown until it is hidden", () => {
  height(false);
  const { result, unmount } = renderHook(useHistogramShown);
  expect(result.current[0]).toBe(true);
  act(() => result.current[1](false));
  unmount();
  expect(renderHook(useHistogramShown).result.current[0]).toBe(false);
});
