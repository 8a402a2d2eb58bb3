// @vitest-environment jsdom
import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import { closeApp, installation, openApp, refused, session, token } from "#/testing.tsx";

afterEach(closeApp);

const ok = (body: unknown) => () => Response.json(body);
const empty = { tokens: [], total: 0 };
const alert = () => screen.findByRole("alertdialog");

function becomeVisible(): void {
  document.dispatchEvent(new Event("visibilitychange"));
}

describe("without a session", () => {
  test("any page is the sign-in under its own address, and nothing of the page is asked for", async () => {
    const { asked } = openApp("/explore?q=a%20b&type!=x", {
      "GET /v1/session": () => refused(401, "SIGN_IN_NEEDED"),
      "GET /v1/installation": ok(installation),
    });
    const link = await screen.findByRole("link", { name: "Sign in with login.example.com" });
    expect(link.getAttribute("href")).toBe(
      `/auth/sign-in?return=${encodeURIComponent("/explore?q=a%20b&type!=x")}`,
    );
    screen.getByText("orders-test");
    expect(location.pathname).toBe("/explore");
    expect(screen.queryByRole("alert")).toBeNull();
    expect(asked.map(({ url }) => url.pathname).toSorted()).toEqual(["/v1/installation", "/v1/session"]);
  });

  test("under a base path it begins below it and comes back within the app", async () => {
    const meta = document.createElement("meta");
    meta.name = "oriel-base";
    meta.content = "/tools/oriel";
    document.head.append(meta);
    openApp("/tools/oriel/events/%2Fshop:a%2Fb?time=x", {
      "GET /tools/oriel/v1/session": () => refused(401, "SESSION_EXPIRED"),
      "GET /tools/oriel/v1/installation": ok(installation),
    });
    const link = await screen.findByRole("link", { name: "Sign in with login.example.com" });
    expect(link.getAttribute("href")).toBe(
      `/tools/oriel/auth/sign-in?return=${encodeURIComponent("/events/%2Fshop:a%2Fb?time=x")}`,
    );
    screen.getByText("Your session has ended.");
    expect(location.pathname).toBe("/tools/oriel/events/%2Fshop:a%2Fb");
  });

  test("where nobody can sign in the page says that reads need a token", async () => {
    openApp("/explore", { "GET /v1/session": () => refused(401, "TOKEN_MISSING") });
    await screen.findByRole("heading", { name: "Reads need an API token" });
    screen.getByText(/TOKEN_MISSING · request req_test/);
  });

  test("a demo tells who can sign in", async () => {
    openApp("/sign-in", {
      "GET /v1/session": () => refused(401, "SIGN_IN_NEEDED"),
      "GET /v1/installation": ok({ ...installation, demo: true }),
    });
    await screen.findByText("operator-1");
  });
});

describe("a sign-in that failed", () => {
  const open = (query: string) =>
    openApp(`/sign-in?${query}`, {
      "GET /v1/session": () => refused(401, "SIGN_IN_NEEDED"),
      "GET /v1/installation": ok({ ...installation, contact: "platform@example.com" }),
    });

  test.each([
    ["SIGN_IN_STATE", "This sign-in could not be finished."],
    ["SIGN_IN_REFUSED", "login.example.com did not let you in."],
    ["SIGN_IN_REJECTED", "What login.example.com sent does not hold."],
    ["PROVIDER_UNAVAILABLE", "login.example.com does not answer."],
    ["RATE_LIMITED", "Too many sign-ins came from your address."],
    ["SOMETHING_NEW", "The sign-in failed."],
  ])("with %s says so, with the request and the way on", async (reason, fact) => {
    open(`error=${reason}&request=req_01JD&return=/explore?q=x`);
    const note = await screen.findByRole("alert");
    expect(note.textContent).toContain(fact);
    expect(note.textContent).toContain(`${reason} · request req_01JD`);
    const link = screen.getByRole("link", { name: "Sign in again with login.example.com" });
    expect(link.getAttribute("href")).toBe("/auth/sign-in?return=%2Fexplore%3Fq%3Dx");
  });

  test("shows nothing that someone else wrote into the address", async () => {
    open("error=Call%20555-0100&request=<b>now</b>&return=//evil.example");
    const note = await screen.findByRole("alert");
    expect(note.textContent).not.toMatch(/555|now/);
    const link = screen.getByRole("link", { name: /^Sign in again/ });
    expect(link.getAttribute("href")).toBe("/auth/sign-in?return=%2F");
  });
});

describe("a session that ends while a page is open", () => {
  test("leaves the page and what was typed, and signs in back to it", async () => {
    const answers = {
      "GET /v1/session": ok(session("admin")),
      "GET /v1/tokens": ok(empty),
      "POST /v1/tokens": () => refused(401, "SESSION_EXPIRED"),
    };
    openApp("/admin/tokens?new", answers);
    fireEvent.change(await screen.findByLabelText("Name"), { target: { value: "valve-controller" } });
    fireEvent.change(screen.getByLabelText("Reason"), { target: { value: "sensor rollout" } });
    fireEvent.click(screen.getByRole("checkbox", { name: /events:write/ }));
    fireEvent.click(screen.getByRole("button", { name: "Make token" }));
    const note = await alert();
    within(note).getByRole("heading", { name: "You were signed out." });
    expect(within(note).getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe(
      "/auth/sign-in?return=%2Fadmin%2Ftokens%3Fnew",
    );
    expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("valve-controller");

    // The browser comes back with the same person.
    const kept = { ...sessionStorage };
    closeApp();
    Object.assign(sessionStorage, kept);
    openApp("/admin/tokens?new", answers);
    expect((await screen.findByLabelText<HTMLInputElement>("Name")).value).toBe("valve-controller");
    expect(screen.getByLabelText<HTMLInputElement>("Reason").value).toBe("sensor rollout");
    expect(screen.getByRole<HTMLInputElement>("checkbox", { name: /events:write/ }).checked).toBe(true);

    // And with another.
    closeApp();
    Object.assign(sessionStorage, kept);
    openApp("/admin/tokens?new", {
      ...answers,
      "GET /v1/session": ok(session("admin", { id: "issuer#eve" })),
    });
    expect((await screen.findByLabelText<HTMLInputElement>("Name")).value).toBe("");
  });

  test("a form of one person does nothing as another who signed in meanwhile, and waits for its owner", async () => {
    let who = session("admin");
    const { asked } = openApp("/admin/tokens?new", {
      "GET /v1/session": () => Response.json(who),
      "GET /v1/tokens": ok(empty),
      "POST /v1/tokens": () => refused(409, "CALLER_CHANGED"),
    });
    fireEvent.change(await screen.findByLabelText("Name"), { target: { value: "valve-controller" } });
    fireEvent.change(screen.getByLabelText("Reason"), { target: { value: "sensor rollout" } });
    fireEvent.click(screen.getByRole("checkbox", { name: /events:write/ }));
    who = session("admin", { id: "issuer#otto", name: "Otto" });
    fireEvent.click(screen.getByRole("button", { name: "Make token" }));
    const note = await screen.findByText(/^You are now/);
    expect(note.closest('[role="alert"]')?.textContent).toContain("You are now Otto. Nothing was done.");
    screen.getByRole("button", { name: "Account: Otto, admin" });
    expect((await screen.findByLabelText<HTMLInputElement>("Name")).value).toBe("");
    expect(asked.filter(({ method }) => method === "POST")).toHaveLength(1);
    expect(JSON.stringify({ ...sessionStorage })).toContain("valve-controller");
    fireEvent.click(screen.getByRole("button", { name: "Understood" }));
    expect(screen.queryByText(/^You are now/)).toBeNull();
  });

  test("a session that cannot be read is said in the bar, and read when asked", async () => {
    const answers: Record<string, () => Response> = {
      "GET /v1/session": () => refused(500, "INTERNAL"),
      "GET /v1/tokens": ok(empty),
    };
    openApp("/admin/tokens", answers);
    await screen.findByText("Who you are could not be read.");
    answers["GET /v1/session"] = ok(session("admin"));
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByRole("button", { name: "Account: admin-1, admin" });
  });

  test("can be looked at, and tells again with the next request that needs it", async () => {
    const answers: Record<string, () => Response> = {
      "GET /v1/session": ok(session("admin")),
      "GET /v1/tokens": ok({ tokens: [token(1)], total: 1 }),
    };
    openApp("/admin/tokens", answers);
    await screen.findByText("token-1");
    answers["GET /v1/tokens"] = () => refused(401, "SIGN_IN_NEEDED");
    fireEvent.click(screen.getByRole("button", { name: "Read again" }));
    const note = within(await alert());
    // A key that was meant for the page presses nothing.
    expect(document.activeElement).toBe(note.getByRole("heading"));
    fireEvent.click(note.getByRole("button", { name: "Stay on this page" }));
    await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
    screen.getByText("token-1");
    screen.getByRole("link", { name: "Sign in" });
    fireEvent.click(screen.getByRole("button", { name: "Read again" }));
    await alert();

    // Signed in again in another tab: this one finds out and reads what it could not.
    answers["GET /v1/tokens"] = ok({ tokens: [token(2)], total: 1 });
    await act(async () => becomeVisible());
    await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
    await screen.findByText("token-2");
  });

  test("tells how long it was where it had lasted as long as any may", async () => {
    const answers: Record<string, () => Response> = {
      "GET /v1/session": ok(
        session("admin", { createTime: "2026-01-01T08:00:00Z", expireTime: "2026-01-01T16:00:00Z" }),
      ),
      "GET /v1/tokens": () => refused(401, "SESSION_EXPIRED"),
    };
    openApp("/admin/tokens", answers);
    within(await alert()).getByRole("heading", { name: "You were signed out after 8 hours." });
  });
});

test("signing out everywhere asks first", async () => {
  let sent: unknown;
  openApp("/admin/tokens", {
    "GET /v1/session": ok(session("admin")),
    "GET /v1/tokens": ok(empty),
    "POST /v1/session:signOut": ({ body }) => {
      sent = body;
      return refused(503, "DATABASE_UNAVAILABLE");
    },
  });
  const open = async () => {
    fireEvent.click(await screen.findByRole("button", { name: "Account: admin-1, admin" }));
    fireEvent.click(screen.getByRole("menuitem", { name: "Sign out everywhere", hidden: true }));
    return within(await alert());
  };
  fireEvent.click((await open()).getByRole("button", { name: "Stay" }));
  expect(screen.queryByRole("alertdialog")).toBeNull();
  expect(sent).toBeUndefined();
  fireEvent.click((await open()).getByRole("button", { name: "Sign out everywhere" }));
  await screen.findByText("You are still signed in.");
  expect(sent).toEqual({ everywhere: true });
});

test("the keys that are listed are those of the page", async () => {
  openApp("/admin/tokens", { "GET /v1/session": ok(session("admin")), "GET /v1/tokens": ok(empty) });
  fireEvent.click(await screen.findByRole("button", { name: "Keyboard shortcuts" }));
  await screen.findByText("All keys");
  expect(screen.queryByText("New snapshot")).toBeNull();
});

describe("without the role", () => {
  test("nobody without any sees a page, but who they are and whom to ask", async () => {
    const { asked } = openApp("/explore", { "GET /v1/session": ok(session("none")) });
    await screen.findByRole("heading", { name: "No role was given to you here" });
    expect(screen.getByRole("main").textContent).toContain("none-1 (none-1@example.com)");
    expect(screen.getByRole("main").textContent).toContain("Ask platform@example.com for one.");
    screen.getByRole("button", { name: "Sign out" });
    screen.getByRole("button", { name: "Sign in as someone else" });
    const before = asked.length;
    fireEvent.click(screen.getByRole("button", { name: "Check again" }));
    await waitFor(() => expect(asked.length).toBe(before + 1));
    await screen.findByText(/^Checked at \d\d:\d\d:\d\d: still no role\.$/);
  });

  test("a page that needs a higher one says which", async () => {
    const { asked } = openApp("/admin/tokens", { "GET /v1/session": ok(session("analyst")) });
    await screen.findByRole("heading", { name: "Tokens need the admin role" });
    expect(screen.getByRole("main").textContent).toContain("with the role analyst");
    expect(screen.getByRole("main").textContent).toContain("Ask platform@example.com for it.");
    expect(asked.some(({ url }) => url.pathname === "/v1/tokens")).toBe(false);
  });

  test("a role taken away while a page is open closes it at the next request", async () => {
    const answers: Record<string, () => Response> = {
      "GET /v1/session": ok(session("admin")),
      "GET /v1/tokens": ok(empty),
    };
    openApp("/admin/tokens", answers);
    await screen.findByRole("heading", { name: "No tokens yet" });
    answers["GET /v1/session"] = ok(session("operator", { id: "issuer#admin" }));
    answers["GET /v1/tokens"] = () => refused(403, "ROLE_MISSING");
    fireEvent.click(screen.getByRole("button", { name: "Read again" }));
    await screen.findByRole("heading", { name: "Tokens need the admin role" });
    screen.getByText(/^Your role changed while this page was open/);
  });

  test("a single control keeps its focus and says why it is off", async () => {
    openApp("/admin/tokens", {
      "GET /v1/session": ok(session("analyst", { scopes: ["events:read", "admin:read"] })),
      "GET /v1/tokens": ok({ tokens: [token(1)], total: 1 }),
    });
    const button = await screen.findByRole("button", { name: "New token" });
    expect(button.getAttribute("aria-disabled")).toBe("true");
    expect(button.hasAttribute("disabled")).toBe(false);
    button.focus();
    expect(document.activeElement).toBe(button);
    const tip = document.getElementById(button.getAttribute("aria-describedby") ?? "");
    expect(tip?.textContent).toBe("Needs the admin role. You are analyst.");
    fireEvent.click(button);
    expect(screen.queryByRole("form", { name: "New token" })).toBeNull();
    expect(location.search).toBe("");
  });
});
