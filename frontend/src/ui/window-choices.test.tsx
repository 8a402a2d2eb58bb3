// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { completeDocument } from "#/testing.tsx";
import { WindowChoices } from "./window-choices.tsx";
import { ZoneProvider } from "./zone.tsx";

beforeEach(completeDocument);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const from = "2026-10-25T01:30:00Z";
const until = "2026-10-25T02:30:00Z";

function show() {
  const onChoose = vi.fn<(from: string | undefined, until: string | undefined) => void>();
  render(
    <ZoneProvider zone="Europe/Berlin" setZone={() => undefined}>
      <WindowChoices from={from} until={until} presets={[]} usual="-24h" onChoose={onChoose} />
    </ZoneProvider>,
  );
  const apply = () => fireEvent.click(screen.getByRole("button", { name: "Apply" }));
  return { onChoose, apply };
}

test("a bound that nobody touched stays the instant that it is, also in an hour that the clock shows twice", () => {
  const { onChoose, apply } = show();
  expect(screen.getByLabelText<HTMLInputElement>("From").value).toBe("2026-10-25 02:30:00+01:00");
  apply();
  expect(onChoose).toHaveBeenLastCalledWith(from, until);
  fireEvent.change(screen.getByLabelText("Until"), { target: { value: "2026-10-25 04:00" } });
  apply();
  expect(onChoose).toHaveBeenLastCalledWith(from, "2026-10-25T03:00:00Z");
});

test("a time that the clock skips is told before it is applied", () => {
  show();
  fireEvent.change(screen.getByLabelText("From"), { target: { value: "2026-03-29 02:30" } });
  screen.getByText(/^02:30:00 does not exist on 29 Mar/);
});
