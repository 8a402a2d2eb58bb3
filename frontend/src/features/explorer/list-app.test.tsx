// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { EventDetail } from "#/api/oriel.gen.ts";
import { closeApp, installation, openApp, refused, session } from "#/testing.tsx";

beforeEach(() => {
  // Without a size the list has no rows in view.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(600);
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(1000);
  vi.spyOn(HTMLElement.prototype, "offsetWidth", "get").mockReturnValue(1000);
  Element.prototype.scrollTo = () => undefined;
});

afterEach(closeApp);

const at = "2026-11-30T12:00:00.000000Z";

function listed(index: number, columns: readonly string[]) {
  return {
    name: `events/s:${index}`,
    id: String(index),
    source: "s",
    type: `t${index}`,
    time: at,
    occurredAt: at,
    ingestTime: at,
    tags: [],
    facets: {},
    summary: `{"n":${index}}`,
    dataSize: 9,
    dataKind: "json",
    position: { topic: "events", log: 1, partition: 0, offset: String(index), commit: "1" },
    ...(columns.length > 0 && { columns: columns.map(() => ({ kind: "number", text: `${index}.50` })) }),
  };
}

function open(path: string) {
  const detail = (index: number): Response => {
    const event = listed(index, []) as unknown as EventDetail["event"];
    const answer = { event, extensions: {}, headers: [], contentMode: "binary", others: [] };
    return Response.json({ ...answer, dataText: `{"n":${index},"same":1.0}` });
  };
  return openApp(path, {
    "GET /v1/session": () => Response.json(session("analyst")),
    "GET /v1/installation": () => Response.json(installation),
    "GET /v1/events:snapshot": () => Response.json({ snapshot: "s", from: "2026-11-30T00:00:00Z" }),
    "GET /v1/events": ({ url }) =>
      Response.json({
        events: [1, 2, 3].map((index) => listed(index, url.searchParams.getAll("columns"))),
        covered: { from: "2026-11-30T00:00:00Z" },
        snapshot: "s",
      }),
    "GET /v1/events/s:1": () => detail(1),
    "GET /v1/events/s:2": () => detail(2),
  });
}

async function rows(): Promise<HTMLElement[]> {
  const grid = await screen.findByRole("grid", { name: "Events" });
  return waitFor(() => {
    const found = [...grid.querySelectorAll<HTMLElement>("[data-index]")];
    expect(found).toHaveLength(3);
    return found;
  });
}

const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
const cols = () => new URLSearchParams(location.search).get("cols");
const heads = () => screen.getAllByRole("columnheader").map((head) => head.textContent);

test("columns of the address are asked for with the rows, and shown as they are spelled", async () => {
  const { asked } = open("/explore?cols=type,data.a,summary");
  const [first] = await rows();
  expect(first?.querySelector("[data-field='data.a']")?.textContent).toBe("1.50");
  expect(heads()).toEqual(["Type", "data.a", "Summary"]);
  const lists = asked.filter(({ url }) => url.pathname === "/v1/events");
  expect(lists.map(({ url }) => url.searchParams.getAll("columns"))).toEqual([["data.a"]]);
});

test("the keys of a cell move, widen and remove its column", async () => {
  open("/explore?cols=type,data.a,summary");
  await rows();
  press("j");
  press("ArrowRight");
  press("ArrowRight");
  fireEvent.keyDown(screen.getByRole("grid"), { key: "ArrowLeft", shiftKey: true });
  await waitFor(() => expect(cols()).toBe("data.a,type,summary"));
  press(">");
  await waitFor(() => expect(cols()).toBe("data.a:1024,type,summary"));
  press("Delete");
  await waitFor(() => expect(cols()).toBe("type,summary"));
});

test("two rows are selected and compared, and Escape takes the selection back", async () => {
  open("/explore");
  await rows();
  press("j");
  press("x");
  const bar = await screen.findByRole("region", { name: "Selected events" });
  expect(bar.textContent).toContain("1 event selected");
  press("=");
  expect(screen.queryByRole("dialog", { name: "Compare two events" })).toBeNull();
  press("j");
  press("x");
  await waitFor(() => expect(bar.textContent).toContain("2 events selected"));
  press("=");
  const dialog = await screen.findByRole("dialog", { name: "Compare two events" });
  const place = await within(dialog).findByRole("rowheader", { name: "data.n" });
  const cells = within(place.closest("tr") as HTMLElement).getAllByRole("cell");
  expect(cells.map((cell) => cell.textContent)).toEqual(["1", "2"]);
  expect(within(dialog).queryByRole("rowheader", { name: "data.same" })).toBeNull();
  fireEvent.click(within(dialog).getByRole("button", { name: "Close" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  press("Escape");
  await waitFor(() => expect(screen.queryByRole("region", { name: "Selected events" })).toBeNull());
});

test("find goes from match to match without leaving its field", async () => {
  open("/explore");
  const list = await rows();
  press("f");
  const input = await screen.findByRole("textbox", { name: "Find in results" });
  expect(document.activeElement).toBe(input);
  const bar = input.closest("search") as HTMLElement;
  fireEvent.change(input, { target: { value: "T" } });
  await waitFor(() => expect(bar.textContent).toContain("3 in 3 loaded rows"));
  press("Enter");
  await waitFor(() => expect(list[0]?.getAttribute("aria-selected")).toBe("true"));
  expect(bar.textContent).toContain("1 of 3");
  fireEvent.keyDown(input, { key: "Enter", shiftKey: true });
  await waitFor(() => expect(list[2]?.getAttribute("aria-selected")).toBe("true"));
  fireEvent.change(input, { target: { value: "nowhere" } });
  await waitFor(() => expect(bar.textContent).toContain("None in 3 loaded rows"));
  press("Escape");
  await waitFor(() => expect(screen.queryByRole("textbox", { name: "Find in results" })).toBeNull());
  expect(document.activeElement).toBe(screen.getByRole("grid", { name: "Events" }));
});

test("a column is added by its name, moved and taken away among the columns", async () => {
  open("/explore");
  await rows();
  fireEvent.click(screen.getByRole("button", { name: "Columns" }));
  const input = await screen.findByLabelText("Add a column");
  fireEvent.change(input, { target: { value: "data.b" } });
  fireEvent.keyDown(input, { key: "Enter" });
  await waitFor(() => expect(cols()).toContain("data.b,summary"));
  // The tests' document takes what floats for hidden.
  const button = (name: string) => screen.getByRole("button", { name, hidden: true });
  fireEvent.click(button("Move data.b down"));
  await waitFor(() => expect(cols()).toContain("summary,data.b"));
  fireEvent.click(button("Remove column data.b"));
  await waitFor(() => expect(cols()).not.toContain("data.b"));
  fireEvent.click(button("Usual columns"));
  await waitFor(() => expect(cols()).toBeNull());
  fireEvent.click(button("Roomy"));
  await waitFor(() => expect(new URLSearchParams(location.search).get("density")).toBe("roomy"));
});

test("a search that fails leaves the rows of the former one, which are said to be that and not marked", async () => {
  open("/explore?q=t1");
  const [first] = await rows();
  expect(first?.querySelector("mark")?.textContent).toBe("t1");
  const answer = globalThis.fetch;
  vi.stubGlobal("fetch", async (input: string, init?: RequestInit) =>
    input.startsWith("/v1/events?") ? refused(401, "SIGN_IN_NEEDED") : answer(input, init),
  );
  const input = screen.getByLabelText("Words to find");
  fireEvent.change(input, { target: { value: "t2" } });
  fireEvent.submit(input);
  const told = await screen.findByText(/of the former search/);
  expect(told.parentElement?.textContent).toContain("You were signed out.");
  const strip = within(screen.getByRole("region", { name: "Results" }));
  expect(strip.getByRole("link", { name: "Sign in" }).getAttribute("href")).toContain("q%3Dt2");
  expect(strip.queryByRole("button", { name: /Remove the filter/ })).toBeNull();
  expect((await rows()).map((row) => row.querySelector("mark")?.textContent)).toEqual([
    "t1",
    undefined,
    undefined,
  ]);
});
