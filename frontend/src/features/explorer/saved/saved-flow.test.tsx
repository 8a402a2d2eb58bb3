// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useState } from "react";
import { afterEach, expect, test, vi } from "vitest";
import type { SavedSearch } from "#/api/oriel.gen.ts";
import { parseQuery, readSearch, type Search, usualFacets, writeSearch } from "#/lib/search.ts";
import { type Asked, closeApp, completeDocument, refused, session } from "#/testing.tsx";
import { AccessProvider } from "#/ui/access.tsx";
import { SearchActions } from "../SearchActions.tsx";
import { SavedFlow } from "./SavedFlow.tsx";

afterEach(closeApp);

function saved(more: Partial<SavedSearch> = {}): SavedSearch {
  return {
    name: "savedSearches/7",
    displayName: "Checkout failures",
    owner: "analyst-1",
    own: true,
    shared: false,
    params: "type=a",
    view: "{}",
    version: 3,
    createTime: "2026-11-30T08:00:00Z",
    updateTime: "2026-11-30T08:00:00Z",
    ...more,
  };
}

let shown: Search;

/** The explorer's part of it: an address, the button and what it opens. */
function Page({ query }: { query: string }) {
  const [search, setSearch] = useState(() => readSearch(parseQuery(query)));
  const [open, setOpen] = useState(false);
  shown = search;
  return (
    <>
      <SearchActions search={search} facets={usualFacets} onPanel={() => setOpen(true)} />
      {open && (
        <SavedFlow search={search} facets={usualFacets} onSearch={setSearch} onClose={() => setOpen(false)} />
      )}
    </>
  );
}

function open(query: string, more: Record<string, (asked: Asked) => Response> = {}) {
  completeDocument();
  const asked: Asked[] = [];
  const answers: typeof more = {
    "GET /v1/savedSearches": () => Response.json({ savedSearches: [saved()] }),
    "GET /v1/savedSearches/7": () => Response.json(saved()),
    ...more,
  };
  vi.stubGlobal("fetch", async (input: string, { method = "GET", body }: RequestInit = {}) => {
    const url = new URL(input, location.href);
    const request = {
      method,
      url,
      body: typeof body === "string" ? (JSON.parse(body) as unknown) : undefined,
    };
    asked.push(request);
    return answers[`${method} ${url.pathname}`]?.(request) ?? refused(404, "NOT_FOUND");
  });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <AccessProvider session={session("analyst")}>
        <Page query={query} />
      </AccessProvider>
    </QueryClientProvider>,
  );
  return { asked };
}

const press = (name: string) => fireEvent.click(screen.getByText(name, { selector: "button" }));
const param = (name: string) => writeSearch(shown)[name]?.[0] ?? null;

test("a search is saved under a name, and the page then is of it", async () => {
  const { asked } = open("?type=a&from=-1h&density=dense", {
    "POST /v1/savedSearches": () =>
      Response.json(saved({ params: "from=-1h&type=a", view: '{"density":["dense"]}' })),
  });
  fireEvent.click(await screen.findByText("Saved"));
  fireEvent.click(await screen.findByText("Save this search…"));
  press("Save");
  expect(await screen.findByText("A name is missing.")).toBeDefined();
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: "Checkout failures" } });
  press("Save");
  await waitFor(() => expect(param("saved")).toBe("7@3"));
  expect(param("density")).toBe("dense");
  expect(asked.find(({ method }) => method === "POST")?.body).toEqual({
    displayName: "Checkout failures",
    params: "type=a&from=-1h",
    view: expect.stringMatching(/^\{"density":\["dense"\],"written":\["\w+"\]\}$/),
    shared: false,
  });
  expect(screen.queryByText("edited")).toBeNull();
});

test("a query stays as it is written when it is saved", async () => {
  open("?q=tea+AND+type=a", {
    "POST /v1/savedSearches": ({ body }) => {
      const { view = "" } = Object(body) as { view?: string };
      return Response.json(saved({ params: "q=type%3Aa+tea", view }));
    },
  });
  fireEvent.click(await screen.findByText("Saved"));
  fireEvent.click(await screen.findByText("Save this search…"));
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: "Tea" } });
  press("Save");
  await waitFor(() => expect(param("saved")).toBe("7@3"));
  expect(param("q")).toBe("tea AND type=a");
  expect(screen.queryByText("edited")).toBeNull();
});

test("edits win over the saved search and are marked, and saving names the version that was seen", async () => {
  const { asked } = open("?type=b&saved=7@3", {
    "PATCH /v1/savedSearches/7": () => Response.json(saved({ params: "type=b", version: 4 })),
  });
  expect(await screen.findByText("edited")).toBeDefined();
  expect(param("type")).toBe("b");
  fireEvent.click(screen.getByTitle("Open and save searches"));
  await screen.findByText("Drop the edits");
  press("Save");
  await waitFor(() => expect(param("saved")).toBe("7@4"));
  expect(asked.find(({ method }) => method === "PATCH")?.body).toEqual({
    version: 3,
    params: "type=b",
    view: expect.stringMatching(/^\{"written":\["\w+"\]\}$/),
  });
  await waitFor(() => expect(screen.queryByText("edited")).toBeNull());
});

test("what somebody changed meanwhile is not overwritten unasked", async () => {
  let now = saved();
  const { asked } = open("?type=b&saved=7@3", {
    "GET /v1/savedSearches/7": () => Response.json(now),
    "PATCH /v1/savedSearches/7": ({ body }) => {
      if ((body as { version: number }).version === 5)
        return Response.json(saved({ params: "type=b", version: 6 }));
      now = saved({ params: "type=c", version: 5 });
      return refused(409, "VERSION_CONFLICT");
    },
  });
  await screen.findByText("edited");
  fireEvent.click(screen.getByTitle("Open and save searches"));
  await screen.findByText("Drop the edits");
  press("Save");
  expect(await screen.findByText("Somebody changed it meanwhile")).toBeDefined();
  expect(await screen.findByText(/it is at version 5 now/)).toBeDefined();
  expect(param("type")).toBe("b");
  press("Save over it");
  await waitFor(() => expect(param("saved")).toBe("7@6"));
  expect(asked.filter(({ method }) => method === "PATCH").map(({ body }) => body)).toMatchObject([
    { version: 3 },
    { version: 5 },
  ]);
});

test("what another shares can be opened and saved as one's own, and not be changed", async () => {
  open("?saved=7@3&type=a", {
    "GET /v1/savedSearches/7": () => Response.json(saved({ own: false, shared: true, owner: "operator-1" })),
  });
  await screen.findByText("Checkout failures");
  fireEvent.click(screen.getByTitle("Open and save searches"));
  const rename = (await screen.findByText("Rename…")).closest("button");
  expect(rename?.getAttribute("aria-disabled")).toBe("true");
  expect(screen.getByText("Save as…").closest("button")?.getAttribute("aria-disabled")).toBeNull();
});

test("one that is opened keeps the pinned filters, and one that is deleted leaves the page as it is", async () => {
  const { asked } = open("?room=hall&pin=room", {
    "DELETE /v1/savedSearches/7": () => new Response(null, { status: 204 }),
  });
  fireEvent.click(await screen.findByText("Saved"));
  fireEvent.click(await screen.findByText("Checkout failures"));
  await waitFor(() => expect(param("saved")).toBe("7@3"));
  expect([param("type"), param("room"), param("pin")]).toEqual(["a", "hall", "room"]);
  fireEvent.click(await screen.findByTitle("Open and save searches"));
  fireEvent.click(await screen.findByText("Delete…"));
  fireEvent.click(await screen.findByText("Delete"));
  await waitFor(() => expect(param("saved")).toBeNull());
  expect(param("type")).toBe("a");
  expect(asked.find(({ method }) => method === "DELETE")?.url.search).toBe("?version=3");
});
