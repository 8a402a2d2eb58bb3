// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { createRef } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ErrorDetail, Session, Suggestion } from "#/api/oriel.gen.ts";
import { ApiError } from "#/lib/http.ts";
import { session } from "#/testing.tsx";
import { AccessProvider } from "#/ui/access.tsx";
import { QueryBar, type QueryBarHandle } from "./QueryBar.tsx";

let answer: { from: number; until: number; suggestions: readonly Suggestion[] };
const asked = vi.fn<(url: URL) => void>();

beforeEach(() => {
  answer = { from: 0, until: 0, suggestions: [] };
  Element.prototype.scrollIntoView = () => undefined;
  vi.stubGlobal("fetch", (input: string) => {
    asked(new URL(input, location.href));
    return Promise.resolve(Response.json(answer));
  });
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  asked.mockClear();
  localStorage.clear();
});

function fault(
  ...places: readonly { position: number; length: number; suggestions?: string; replacement?: string }[]
): ApiError {
  const details = places.map(
    ({ position, length, suggestions, replacement }): ErrorDetail => ({
      reason: "INVALID_QUERY",
      domain: "oriel",
      message: `Character ${position} is no word.`,
      metadata: {
        attribute: "q",
        position: String(position),
        length: String(length),
        ...(suggestions && { suggestions }),
        ...(replacement && { replacement }),
      },
    }),
  );
  return new ApiError({ code: 400, status: "INVALID_ARGUMENT", message: "It is no query.", details });
}

function show(applied: string, refused?: ApiError, person?: Session) {
  const onLeave = vi.fn<() => void>();
  const onApply = vi.fn<(query: string) => void>();
  const client = new QueryClient();
  const bar = (now: string) => (
    <QueryClientProvider client={client}>
      <AccessProvider session={person}>
        <QueryBar
          ref={createRef<QueryBarHandle>()}
          due
          applied={now}
          fault={refused}
          faultId="fault"
          narrow={false}
          facets={["room"]}
          onApply={onApply}
          onLeave={onLeave}
        />
      </AccessProvider>
    </QueryClientProvider>
  );
  const { rerender } = render(bar(applied));
  const apply = (now: string) => rerender(bar(now));
  return { onApply, onLeave, apply, input: screen.getByLabelText<HTMLInputElement>("Words to find") };
}

function type(input: HTMLInputElement, value: string, caret = value.length) {
  input.focus();
  fireEvent.change(input, { target: { value, selectionStart: caret, selectionEnd: caret } });
}

const press = (input: HTMLInputElement, key: string, more = {}) => fireEvent.keyDown(input, { key, ...more });

test("text that was not run says so until it is run", () => {
  const { onApply, input } = show("declined");
  expect(screen.queryByText("not applied")).toBeNull();
  type(input, "declined card ");
  screen.getByText("not applied");
  expect(onApply).not.toHaveBeenCalled();
  fireEvent.submit(input);
  expect(onApply).toHaveBeenCalledWith("declined card");
});

test("Escape takes unapplied text back, then leaves", () => {
  const { input, onLeave } = show("declined");
  type(input, "x");
  press(input, "Escape");
  expect(input.value).toBe("declined");
  expect(onLeave).not.toHaveBeenCalled();
  press(input, "Escape");
  expect(onLeave).toHaveBeenCalledOnce();
});

test("a fault belongs to the applied text and leaves as it is edited", () => {
  const { input } = show("(a", fault({ position: 1, length: 1 }));
  expect(input.getAttribute("aria-describedby")).toBe("fault");
  expect(input.getAttribute("aria-invalid")).toBe("true");
  type(input, "a");
  expect(input.getAttribute("aria-invalid")).toBe("false");
  expect(input.getAttribute("aria-describedby")).toBeNull();
});

test("running the same text again asks again", () => {
  const { onApply, input } = show("declined");
  fireEvent.submit(input);
  expect(onApply).toHaveBeenCalledWith("declined");
});

test("the place of a mistake is underlined, counted in characters", async () => {
  show("😀 tyep:x (b", fault({ position: 3, length: 4 }, { position: 10, length: 1 }));
  await waitFor(() => {
    const wrong = [...document.querySelectorAll(".decoration-wavy")].map((piece) => piece.textContent);
    expect(wrong).toEqual(["tyep", "("]);
  });
});

test("the field that was meant is put in its place, and is not run by itself", async () => {
  answer = {
    from: 0,
    until: 4,
    suggestions: [{ kind: "path", text: "data.tyep", insert: "data.tyep:" }],
  };
  const { input, onApply } = show(
    "door tyep:x",
    fault({ position: 6, length: 4, suggestions: "type, data.tyep" }),
  );
  input.focus();
  press(input, "ArrowDown");
  await screen.findByRole("option", { name: /data\.tyep/ });
  press(input, "ArrowDown");
  expect(screen.getByRole("option", { selected: true }).textContent).toContain("instead of tyep");
  press(input, "Enter");
  expect(input.value).toBe("door type:x");
  expect(onApply).not.toHaveBeenCalled();
});

test("what must have been meant is written and run by Enter, or by a press", async () => {
  const faulty = fault({ position: 3, length: 9, replacement: "data.n>5" });
  const { input, onApply } = show("😀 data.n:>5 x", faulty);
  input.focus();
  fireEvent.click(await screen.findByRole("button", { name: /Fix it/ }));
  expect(onApply).toHaveBeenLastCalledWith("😀 data.n>5 x");
  cleanup();
  const again = show("😀 data.n:>5 x", faulty);
  again.input.focus();
  await screen.findByRole("button", { name: /Fix it/ });
  press(again.input, "Enter");
  expect(again.onApply).toHaveBeenLastCalledWith("😀 data.n>5 x");
});

test("of names that are no field the one that the events have is meant", async () => {
  answer = {
    from: 0,
    until: 5,
    suggestions: [
      { kind: "path", text: "data.total", insert: "data.total:" },
      { kind: "path", text: "data.subtotal", insert: "data.subtotal:" },
      { kind: "word", text: "total", insert: "total" },
    ],
  };
  const faulty = fault({ position: 1, length: 5, suggestions: "data.total, ext.total" });
  const { input, onApply } = show("total > 100", faulty);
  input.focus();
  fireEvent.click(await screen.findByRole("button", { name: /Fix it/ }));
  expect(onApply).toHaveBeenLastCalledWith("data.total > 100");
});

test("two mistakes, of which one is not to be mended, are not run", async () => {
  const faulty = fault({ position: 1, length: 2, replacement: "AND" }, { position: 4, length: 1 });
  const { input, onApply } = show("&& (b", faulty);
  input.focus();
  fireEvent.click(await screen.findByRole("button", { name: /Fix it/ }));
  expect(input.value).toBe("AND (b");
  expect(onApply).not.toHaveBeenCalled();
});

test("what may be written is suggested at the caret and taken with Tab", async () => {
  answer = {
    from: 2,
    until: 5,
    suggestions: [
      { kind: "field", text: "severity", insert: "severity:", detail: "trace to emergency" },
      { kind: "word", text: "several", insert: "several" },
    ],
  };
  const { input } = show("");
  type(input, "😀 sev door", 6);
  await screen.findByRole("option", { name: /severity/ });
  expect(asked.mock.lastCall?.[0].searchParams.get("position")).toBe("5");
  expect(input.getAttribute("aria-expanded")).toBe("true");
  press(input, "Tab");
  expect(input.value).toBe("😀 severity: door");
});

test("an option is chosen with the arrows, and Enter takes it instead of running the query", async () => {
  answer = {
    from: 0,
    until: 2,
    suggestions: [
      { kind: "field", text: "type", insert: "type:" },
      { kind: "word", text: "typed", insert: "typed" },
    ],
  };
  const { input, onApply } = show("");
  type(input, "ty");
  await screen.findAllByRole("option");
  press(input, "ArrowDown");
  press(input, "ArrowDown");
  const chosen = screen.getByRole("option", { selected: true });
  expect(input.getAttribute("aria-activedescendant")).toBe(chosen.id);
  press(input, "Enter");
  expect(input.value).toBe("typed");
  expect(onApply).not.toHaveBeenCalled();
  expect(screen.queryByRole("listbox")).toBeNull();
});

test("Escape closes the suggestions before it takes text back", async () => {
  answer = { from: 0, until: 1, suggestions: [{ kind: "word", text: "door", insert: "door" }] };
  const { input } = show("");
  type(input, "d");
  await screen.findByRole("listbox");
  press(input, "Escape");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(input.value).toBe("d");
  press(input, "Escape");
  expect(input.value).toBe("");
});

test("Up goes back through what was run, Down to what was being typed", () => {
  const { input, apply } = show("");
  for (const query of ["one", "two", "three"]) {
    type(input, query);
    fireEvent.submit(input);
    apply(query);
  }
  type(input, "fo");
  const up = () => press(input, "ArrowUp");
  up();
  expect(input.value).toBe("three");
  screen.getByText("1 of 3");
  up();
  up();
  expect(input.value).toBe("one");
  up();
  expect(input.value).toBe("one");
  press(input, "ArrowDown");
  press(input, "ArrowDown");
  press(input, "ArrowDown");
  expect(input.value).toBe("fo");
});

test("an empty bar offers what was run last", async () => {
  const { input } = show("");
  type(input, "declined");
  fireEvent.submit(input);
  type(input, "");
  const list = await screen.findByRole("listbox");
  fireEvent.click(within(list).getByRole("option", { name: /declined/ }));
  expect(input.value).toBe("declined");
});

test("a query that was typed and not run is there again, once, after a sign-in", () => {
  const person = session("analyst");
  const leave = () => {
    fireEvent(window, new Event("pagehide"));
    cleanup();
  };
  type(show("declined", undefined, person).input, "declined card");
  leave();
  expect(show("other", undefined, person).input.value).toBe("other");
  cleanup();
  type(show("declined", undefined, person).input, "declined card");
  leave();
  expect(show("declined", undefined, person).input.value).toBe("declined card");
  cleanup();
  expect(show("declined", undefined, person).input.value).toBe("declined");
});

test("a comparison that is typed behind a field that was taken stands in the place of its colon", async () => {
  answer = { from: 0, until: 7, suggestions: [{ kind: "path", text: "data.total", insert: "data.total:" }] };
  const { input } = show("");
  type(input, "data.to");
  await screen.findByRole("option");
  press(input, "Tab");
  expect(input.value).toBe("data.total:");
  type(input, "data.total:>");
  expect(input.value).toBe("data.total>");
  // A colon of one's own stays, and is told about as it is run.
  type(input, "data.total:");
  type(input, "data.total:>");
  expect(input.value).toBe("data.total:>");
});
