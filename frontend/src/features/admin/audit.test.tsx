// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { auditEntry, closeApp, openApp, refused, session } from "#/testing.tsx";

afterEach(closeApp);

const ok = (body: unknown) => () => Response.json(body);
const admin = { "GET /v1/session": ok(session("admin")) };
const hostile = '<img src=x onerror="window.ran=true">';

test("an entry stands on a line, and unfolds to all that is on the record", async () => {
  openApp("/admin/audit?zone=Asia/Kolkata", {
    ...admin,
    "GET /v1/auditEntries": ok({
      entries: [auditEntry("a", { before: { state: "active", n: 1 }, after: { state: "revoked", n: 1 } })],
    }),
  });
  const row = (await screen.findAllByRole("row"))[1];
  expect(row?.textContent).toContain("30 Nov 20:28:40.771");
  expect(row?.textContent).toContain("admin-1 admin");
  expect(row?.textContent).toContain("tokens/7 “sensor rollout”");
  screen.getByText("append-only, 1 entry");
  const unfold = screen.getByRole("button", { name: "token.create by admin-1, 30 Nov 20:28:40.771" });
  expect(unfold.getAttribute("aria-expanded")).toBe("false");
  fireEvent.click(unfold);
  await waitFor(() => expect(location.search).toContain("entry=a"));
  screen.getByText("2026-11-30 20:28:40.779 +05:30");
  screen.getByText("192.0.2.17");
  screen.getByText("issuer#admin");
  const changes = within(screen.getByRole("list", { name: "Before and after" })).getAllByRole("listitem");
  expect(changes.map(({ textContent }) => textContent)).toEqual([
    "−beforestateactive",
    "+afterstaterevoked",
    " unchangedn1",
  ]);
  fireEvent.click(unfold);
  await waitFor(() => expect(screen.queryByText("192.0.2.17")).toBeNull());
});

test("what has no end on the record is said to be unknown, and why", async () => {
  const { outcomeTime: _, ...begun } = auditEntry("a", { outcome: "unknown" });
  openApp("/admin/audit?entry=a", { ...admin, "GET /v1/auditEntries": ok({ entries: [begun] }) });
  await screen.findByText("How it ended is not known.");
  screen.getByText(/may have happened or not/);
});

test("nothing that others wrote is more than text", async () => {
  const entry = auditEntry("a", {
    actor: hostile,
    action: hostile,
    target: hostile,
    reason: hostile,
    detail: hostile,
    requestId: hostile,
    address: hostile,
    before: { [hostile]: hostile },
  });
  openApp("/admin/audit?entry=a", { ...admin, "GET /v1/auditEntries": ok({ entries: [entry] }) });
  await screen.findByRole("list", { name: "Before and after" });
  expect(document.querySelector("img")).toBeNull();
  expect(screen.getAllByText(hostile).length).toBeGreaterThan(7);
});

test("the filter is in the address, in the request and in the download", async () => {
  const { asked } = openApp("/admin/audit?actor=ada&action=token.*&outcome=refused&from=-7d&q=rollout", {
    ...admin,
    "GET /v1/auditEntries": ok({ entries: [] }),
  });
  await screen.findByRole("heading", { name: "No entries match" });
  const wanted = "?actor=ada&action=token.*&outcome=refused&from=-7d&q=rollout";
  const link = screen.getByRole("link", { name: "NDJSON" });
  expect(link.getAttribute("href")).toBe(`/v1/auditEntries:export${wanted}`);
  expect(link.hasAttribute("download")).toBe(true);
  expect(asked.find(({ url }) => url.pathname === "/v1/auditEntries")?.url.search).toBe(
    `${wanted}&pageSize=100`,
  );

  screen.getByRole("button", { name: "Last 7 days" });
  fireEvent.click(screen.getByRole("button", { name: "Remove filter: actor is ada" }));
  fireEvent.click(screen.getByRole("button", { name: "refused" }));
  await waitFor(() => expect(location.search).toBe("?q=rollout&action=token.*&from=-7d"));
  fireEvent.click(screen.getByRole("button", { name: "Remove the filters" }));
  await screen.findByRole("heading", { name: "Nothing is on the record yet" });
  expect(location.search).toBe("");
});

test("a value of an entry becomes the filter", async () => {
  openApp("/admin/audit?entry=a&target=tokens/7", {
    ...admin,
    "GET /v1/auditEntries": ok({ entries: [auditEntry("a")] }),
  });
  fireEvent.click(await screen.findByRole("button", { name: "Only actor admin-1" }));
  await waitFor(() => expect(location.search).toBe("?actor=admin-1&target=tokens/7"));
});

test("text is looked for on Enter", async () => {
  const { asked } = openApp("/admin/audit", {
    ...admin,
    "GET /v1/auditEntries": ok({ entries: [auditEntry("a")] }),
  });
  const input = await screen.findByLabelText("Text, or a request id");
  fireEvent.change(input, { target: { value: " req_01 " } });
  screen.getByText("Enter");
  fireEvent.submit(input);
  await waitFor(() => expect(location.search).toBe("?q=req_01"));
  await waitFor(() => expect(asked.at(-1)?.url.searchParams.get("q")).toBe("req_01"));
});

test("older entries come when asked for, and where they do not those above stay", async () => {
  const answers: Record<string, (asked: { url: URL }) => Response> = {
    ...admin,
    "GET /v1/auditEntries": ({ url }) =>
      url.searchParams.has("pageToken")
        ? refused(500, "INTERNAL")
        : Response.json({ entries: [auditEntry("b")], nextPageToken: "older" }),
  };
  openApp("/admin/audit", answers);
  await screen.findByText("append-only, ≥ 1 entry");
  fireEvent.click(screen.getByRole("button", { name: "Load older" }));
  const note = await screen.findByRole("alert");
  expect(note.textContent).toContain("The entries above are complete.");
  answers["GET /v1/auditEntries"] = () => Response.json({ entries: [auditEntry("a")] });
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  await screen.findByText("append-only, 2 entries");
  screen.getByText("No older entries.");
  expect(document.activeElement?.getAttribute("data-entry")).toBe("a");
});

test("a token is told by its name beside its number, and people of one name by their ids", async () => {
  openApp("/admin/audit", {
    ...admin,
    "GET /v1/auditEntries": ok({
      entries: [
        auditEntry("a", { after: { displayName: "valve-controller", scopes: ["events:read", "operate"] } }),
        auditEntry("b", { action: "token.revoke", before: { displayName: "old" }, actorId: "issuer#second" }),
        auditEntry("c", { actor: "ada", actorId: "issuer#ada" }),
      ],
    }),
  });
  const [, a, b, c] = (await screen.findAllByRole("row")).map(({ textContent }) => textContent);
  expect(a).toContain("tokens/7 valve-controller “sensor rollout”");
  expect(b).toContain("tokens/7 old “");
  expect(a).toContain("admin-1 admin admin");
  expect(b).toContain("admin-1 admin second");
  expect(c).not.toContain("admin ada");
  fireEvent.click(screen.getAllByRole("button", { name: /^token.create by admin-1/ })[0] as HTMLElement);
  const list = await screen.findByRole("list", { name: "Before and after" });
  expect(within(list).getByText("events:read").tagName).toBe("LI");
  fireEvent.click(screen.getByRole("button", { name: "Only actor issuer#admin" }));
  await waitFor(() => expect(location.search).toBe("?actor=issuer%23admin"));
});

test("an entry of the address that is not loaded is said, and older ones are offered", async () => {
  openApp("/admin/audit?entry=old", {
    ...admin,
    "GET /v1/auditEntries": ({ url }) =>
      url.searchParams.has("pageToken")
        ? Response.json({ entries: [auditEntry("old", { address: "192.0.2.99" })] })
        : Response.json({ entries: [auditEntry("new")], nextPageToken: "older" }),
  });
  await screen.findByText("The entry of this address is not among those below.");
  fireEvent.click(screen.getByRole("button", { name: "Load older entries" }));
  await screen.findByText("192.0.2.99");
  expect(screen.queryByText("The entry of this address is not among those below.")).toBeNull();
  expect(location.search).toBe("?entry=old");
});

test("an entry that a filter excludes is let go", async () => {
  openApp("/admin/audit", {
    ...admin,
    "GET /v1/auditEntries": ({ url }) =>
      Response.json({ entries: url.searchParams.has("outcome") ? [auditEntry("b")] : [auditEntry("a")] }),
  });
  fireEvent.click(await screen.findByRole("button", { name: /^token.create by/ }));
  await waitFor(() => expect(location.search).toBe("?entry=a"));
  fireEvent.click(screen.getByRole("button", { name: "refused" }));
  await waitFor(() => expect(location.search).toBe("?outcome=refused"));
  screen.getByText("1 entry matches");
});

test("an outcome that there is not is said", async () => {
  openApp("/admin/audit?outcome=bogus", {
    ...admin,
    "GET /v1/auditEntries": ok({ entries: [auditEntry("a")] }),
  });
  await screen.findByText("The address asks for an outcome that there is not.");
});

test("a download that would be refused says why in the page, and is not begun", async () => {
  const answers: Record<string, () => Response> = {
    ...admin,
    "GET /v1/auditEntries": ok({ entries: [auditEntry("a")] }),
  };
  openApp("/admin/audit", answers);
  const link = await screen.findByRole("link", { name: "NDJSON" });
  answers["GET /v1/auditEntries"] = () => refused(400, "INVALID_PARAMETER");
  expect(fireEvent.click(link)).toBe(false);
  await screen.findByText("Nothing was downloaded.");
  answers["GET /v1/auditEntries"] = () => refused(401, "SESSION_EXPIRED");
  fireEvent.click(link);
  await screen.findByRole("alertdialog", { name: "You were signed out." });
  expect(screen.queryByText("Nothing was downloaded.")).toBeNull();
  answers["GET /v1/auditEntries"] = ok({ entries: [] });
  const begun = new Promise<boolean>((resolve) => {
    link.addEventListener("click", (event) => {
      setTimeout(() => {
        if (!event.defaultPrevented) resolve(true);
      });
    });
  });
  fireEvent.click(link);
  expect(await begun).toBe(true);
});
