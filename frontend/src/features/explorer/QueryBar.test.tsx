// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { createRef } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { ApiError } from "#/lib/http.ts";
import { QueryBar, type QueryBarHandle } from "./QueryBar.tsx";

afterEach(cleanup);

const fault = new ApiError({ code: 400, status: "INVALID_ARGUMENT", message: "Character 3 is no word." });

function show(applied: string, refused?: ApiError) {
  const onLeave = vi.fn<() => void>();
  const onApply = vi.fn<(query: string) => void>();
  const bar = () => (
    <QueryBar
      ref={createRef<QueryBarHandle>()}
      applied={applied}
      fault={refused}
      faultId="fault"
      onApply={onApply}
      onLeave={onLeave}
    />
  );
  render(bar());
  return { onApply, onLeave, input: screen.getByLabelText<HTMLInputElement>("Words to find") };
}

test("text that was not run says so until it is run", () => {
  const { onApply, input } = show("declined");
  expect(screen.queryByText("not applied")).toBeNull();
  fireEvent.change(input, { target: { value: "declined card " } });
  screen.getByText("not applied");
  expect(onApply).not.toHaveBeenCalled();
  fireEvent.submit(input);
  expect(onApply).toHaveBeenCalledWith("declined card");
});

test("Escape takes unapplied text back, then leaves", () => {
  const { input, onLeave } = show("declined");
  fireEvent.change(input, { target: { value: "x" } });
  fireEvent.keyDown(input, { key: "Escape" });
  expect(input.value).toBe("declined");
  expect(onLeave).not.toHaveBeenCalled();
  fireEvent.keyDown(input, { key: "Escape" });
  expect(onLeave).toHaveBeenCalledOnce();
});

test("a fault belongs to the applied text and leaves as it is edited", () => {
  const { input } = show("(a", fault);
  expect(input.getAttribute("aria-describedby")).toBe("fault");
  expect(input.getAttribute("aria-invalid")).toBe("true");
  fireEvent.change(input, { target: { value: "a" } });
  expect(input.getAttribute("aria-invalid")).toBe("false");
  expect(input.getAttribute("aria-describedby")).toBeNull();
});

test("running the same text again asks again", () => {
  const { onApply, input } = show("declined");
  fireEvent.submit(input);
  expect(onApply).toHaveBeenCalledWith("declined");
});
