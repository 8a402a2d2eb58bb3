// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { closeApp, openApp, refused, session, token } from "#/testing.tsx";

afterEach(closeApp);

const secret = "orl_Vt3qM8sYw0pZ_k5Rr9cXhJ2uNfE7bLdA4gTi6oQy1Wv";
const ok = (body: unknown) => () => Response.json(body);
const admin = { "GET /v1/session": ok(session("admin")) };

function fill(): void {
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: "valve-controller" } });
  fireEvent.change(screen.getByLabelText("Reason"), { target: { value: "sensor rollout" } });
  fireEvent.click(screen.getByRole("checkbox", { name: /events:write/ }));
}

const send = () => fireEvent.click(screen.getByRole("button", { name: "Make token" }));

test("each token stands with what it may do, when it ends and who made it", async () => {
  const day = 86_400_000;
  const { asked } = openApp("/admin/tokens", {
    ...admin,
    "GET /v1/tokens": ({ url }) =>
      url.searchParams.get("state") === "revoked"
        ? Response.json({ tokens: [], total: 2 })
        : Response.json({
            total: 4,
            tokens: [
              token(4, {
                sourcePrefixes: ["/shop/", "/x\u202e"],
                lastUseTime: new Date(Date.now() - 130_000).toISOString(),
              }),
              token(3, {
                scopes: ["events:read", "admin:read"],
                expireTime: new Date(Date.now() + day).toISOString(),
              }),
              token(2, { state: "expired", expireTime: "2025-11-14T10:00:00Z" }),
              token(1, { state: "revoked", revokeTime: "2025-11-14T10:00:00Z", revokedBy: "ada" }),
            ],
          }),
  });
  const rows = (await screen.findAllByRole("row")).slice(1).map((row) => row.textContent);
  expect(rows[0]).toContain("orl_abcd4xxx…");
  expect(rows[0]).toContain("never");
  expect(rows[0]).toContain("2 min ago");
  expect(rows[1]).toContain("cannot write");
  expect(rows[1]).toContain(", soon");
  expect(rows[2]).toContain("expired 14 Nov 2025");
  expect(rows[3]).toContain("revoked 14 Nov 2025 by ada");
  expect(screen.getAllByRole("button", { name: /^Revoke / })).toHaveLength(2);
  await screen.findByText("4, 2 revoked");
  // Bidirectional controls are shown by name, not obeyed.
  expect(document.querySelector("[data-glyph]")).not.toBeNull();
  expect(asked.filter(({ url }) => url.pathname === "/v1/tokens")).toHaveLength(2);
});

test("a new token is shown once, and is nowhere after Done", async () => {
  let made: unknown;
  openApp("/admin/tokens", {
    ...admin,
    "GET /v1/tokens": () => Response.json(made ? { tokens: [token(7)], total: 1 } : { tokens: [], total: 0 }),
    "POST /v1/tokens": ({ body }) => {
      made = body;
      return Response.json({ token: token(7, { displayName: "valve-controller" }), secret });
    },
  });
  fireEvent.click(await screen.findByRole("button", { name: "New token" }));
  await screen.findByLabelText("Name");
  expect(location.search).toBe("?new");
  expect(document.activeElement).toBe(screen.getByLabelText("Name"));
  fill();
  fireEvent.change(screen.getByLabelText(/May write sources/), { target: { value: "/home/greenhouse-2" } });
  fireEvent.click(screen.getByRole("button", { name: "Never" }));
  send();
  await screen.findByText(secret);
  expect(made).toEqual({
    displayName: "valve-controller",
    scopes: ["events:write"],
    sourcePrefixes: ["/home/greenhouse-2"],
    reason: "sensor rollout",
  });
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Copy" }));
  expect(location.search).toBe("");
  expect(screen.queryByLabelText("Name")).toBeNull();
  await screen.findByText("token-7");
  const stored = JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href, history.state]);
  expect(stored).not.toContain(secret);
  expect(stored).not.toContain("valve");
  fireEvent.click(screen.getByRole("button", { name: "Done" }));
  await waitFor(() => expect(document.body.textContent).not.toContain(secret));
});

test("what is missing is said all at once, beside its field, and nothing is sent", async () => {
  const { asked } = openApp("/admin/tokens?new", {
    ...admin,
    "GET /v1/tokens": ok({ tokens: [], total: 0 }),
  });
  await screen.findByLabelText("Name");
  send();
  for (const label of ["Name", "Reason"]) {
    const input = screen.getByLabelText(label);
    expect(input.getAttribute("aria-invalid")).toBe("true");
    const says = document.getElementById(input.getAttribute("aria-describedby") ?? "");
    expect(says?.textContent).toContain("is missing");
  }
  screen.getByText("Choose at least one: a token without any may do nothing.");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Name")));
  expect(asked.some(({ method }) => method === "POST")).toBe(false);
});

test("what the server says against fields stands beside them, and goes as they are changed", async () => {
  openApp("/admin/tokens?new", {
    ...admin,
    "GET /v1/tokens": ok({ tokens: [], total: 0 }),
    "POST /v1/tokens": () =>
      refused(400, "INVALID_FIELD", {
        displayName: "This name is taken.",
        "sourcePrefixes[0]": "No such source.",
      }),
  });
  await screen.findByLabelText("Name");
  fill();
  send();
  await screen.findByText("This name is taken.");
  screen.getByText("No such source.");
  expect(screen.queryByText("The token was not made.")).toBeNull();
  await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText("Name")));
  fireEvent.change(screen.getByLabelText("Name"), { target: { value: "another" } });
  await waitFor(() => expect(screen.queryByText("This name is taken.")).toBeNull());
});

test("where no answer came it is not claimed that nothing was made", async () => {
  openApp("/admin/tokens?new", {
    ...admin,
    "GET /v1/tokens": ok({ tokens: [], total: 0 }),
    "POST /v1/tokens": () => Promise.reject(new TypeError("Failed to fetch")),
  });
  await screen.findByLabelText("Name");
  fill();
  send();
  await screen.findByText("It is not known whether the token was made.");
  expect(screen.getByLabelText<HTMLInputElement>("Name").value).toBe("valve-controller");
});

test("a cancelled form is forgotten", async () => {
  openApp("/admin/tokens?new", { ...admin, "GET /v1/tokens": ok({ tokens: [], total: 0 }) });
  await screen.findByLabelText("Name");
  fill();
  expect(JSON.stringify({ ...sessionStorage })).toContain("valve-controller");
  fireEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "New token" }));
  await waitFor(() => expect(screen.queryByLabelText("Name")).toBeNull());
  expect(JSON.stringify({ ...sessionStorage })).not.toContain("valve-controller");
});

test("a token is revoked with a reason, and the list says so", async () => {
  let revoked: unknown;
  openApp("/admin/tokens", {
    ...admin,
    "GET /v1/tokens": () =>
      Response.json({ tokens: [token(7, { state: revoked ? "revoked" : "active" })], total: 1 }),
    "POST /v1/tokens/7:revoke": ({ body }) => {
      revoked = body;
      return Response.json(token(7, { state: "revoked" }));
    },
  });
  fireEvent.click(await screen.findByRole("button", { name: "Revoke token-7, orl_abcd7xxx…" }));
  const dialog = await screen.findByRole("alertdialog", { name: "Revoke token “token-7”?" });
  expect(dialog.textContent).toContain("Every replica refuses it within 2 s. This cannot be undone.");
  expect(dialog.textContent).toContain("prefixorl_abcd7xxx…");
  expect(dialog.textContent).toContain("scopesevents:write");
  expect(dialog.textContent).toContain("created byadmin-1");
  expect(dialog.textContent).toContain("last usednever");
  expect(location.search).toBe("?revoke=7");
  fireEvent.click(within(dialog).getByRole("button", { name: "Revoke token" }));
  within(dialog).getByText(/A reason is missing/);
  expect(revoked).toBeUndefined();
  fireEvent.change(within(dialog).getByLabelText("Reason"), { target: { value: "leaked" } });
  fireEvent.click(within(dialog).getByRole("button", { name: "Revoke token" }));
  await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
  expect(revoked).toEqual({ reason: "leaked" });
  expect(location.search).toBe("");
  await screen.findByText("revoked");
  await waitFor(() =>
    expect(document.activeElement).toBe(screen.getByRole("rowheader", { name: /^token-7/ })),
  );
  expect(JSON.stringify({ ...sessionStorage })).not.toContain("leaked");
});

test("what is typed is searched for once it pauses, and the rows stay until the answer", async () => {
  const { asked } = openApp("/admin/tokens?state=active", {
    ...admin,
    "GET /v1/tokens": ({ url }) =>
      url.searchParams.get("q") === "zz"
        ? Response.json({ tokens: [], total: 0 })
        : Response.json({ tokens: [token(7)], total: 1 }),
  });
  await screen.findByText("token-7");
  const input = screen.getByLabelText("Name or prefix");
  fireEvent.change(input, { target: { value: "z" } });
  fireEvent.change(input, { target: { value: "zz" } });
  screen.getByText("token-7");
  await screen.findByRole("heading", { name: "No tokens match" });
  expect(location.search).toBe("?q=zz&state=active");
  const searched = asked.filter(({ url }) => url.pathname === "/v1/tokens").map(({ url }) => url.search);
  expect(searched).toEqual(["?state=active&pageSize=100", "?q=zz&state=active&pageSize=100"]);
  fireEvent.click(screen.getByRole("button", { name: "Show all" }));
  await screen.findByText("token-7");
});

test("beyond a page the rest is asked for, and a failure says that the rest of the page works", async () => {
  openApp("/admin/tokens?state=active", {
    ...admin,
    "GET /v1/tokens": ({ url }) =>
      url.searchParams.get("pageToken") === "second"
        ? Response.json({ tokens: [token(1)], total: 2 })
        : Response.json({ tokens: [token(2)], total: 2, nextPageToken: "second" }),
  });
  await screen.findByText("1 of 2 are shown.");
  fireEvent.click(screen.getByRole("button", { name: "Show more" }));
  await screen.findByText("token-1");
  screen.getByText("token-2");
  expect(document.activeElement).toBe(screen.getByRole("rowheader", { name: /^token-1/ }));
  expect(screen.queryByRole("button", { name: "Show more" })).toBeNull();
});

test("where the list cannot be read the page says why, and tries again when asked", async () => {
  const answers: Record<string, () => Response> = {
    ...admin,
    "GET /v1/tokens": () => refused(500, "INTERNAL"),
  };
  openApp("/admin/tokens?state=active", answers);
  const note = await screen.findByRole("alert");
  expect(note.textContent).toContain("The tokens could not be read.");
  expect(note.textContent).toContain("request req_test");
  answers["GET /v1/tokens"] = ok({ tokens: [token(7)], total: 1 });
  fireEvent.click(within(note).getByRole("button", { name: "Try again" }));
  await screen.findByText("token-7");
});

test("a row tells the number that the record knows the token by, and one with an odd date breaks nothing", async () => {
  openApp("/admin/tokens?zone=Asia/Kolkata", {
    ...admin,
    "GET /v1/tokens": ok({
      tokens: [
        token(7, {
          createTime: "12026-01-01T00:00:00Z",
          expireTime: "12026-01-01T00:00:00Z",
          lastUseTime: "never ever",
          sourcePrefixes: ["/a, b", "/c"],
        }),
      ],
      total: 1,
    }),
  });
  const link = await screen.findByRole("link", { name: "tokens/7" });
  expect(link.getAttribute("href")).toBe("/admin/audit?target=tokens/7&zone=Asia/Kolkata");
  screen.getByText("12026-01-01T00:00:00Z");
  screen.getByText("/a, b");
  screen.getByText("/c");
});

test("the secret of a pasted token reaches neither the field nor the address nor a request", async () => {
  const { asked } = openApp("/admin/tokens", {
    ...admin,
    "GET /v1/tokens": ok({ tokens: [token(7)], total: 1 }),
  });
  await screen.findByText("token-7");
  const input = screen.getByLabelText<HTMLInputElement>("Name or prefix");
  fireEvent.change(input, { target: { value: secret } });
  expect(input.value).toBe("Vt3qM8sY");
  await waitFor(() => expect(location.search).toBe("?q=Vt3qM8sY"));
  await waitFor(() => expect(asked.some(({ url }) => url.searchParams.get("q") === "Vt3qM8sY")).toBe(true));
  fireEvent.change(input, { target: { value: "orl_Vt3" } });
  await waitFor(() => expect(location.search).toBe("?q=Vt3"));
  expect(input.value).toBe("orl_Vt3");
  expect(JSON.stringify(asked)).not.toContain(secret.slice(12));
});

test("a token that was not copied is not left without a question, and the sign-in says that it is lost", async () => {
  const answers: Record<string, () => Response> = {
    ...admin,
    "GET /v1/tokens": ok({ tokens: [], total: 0 }),
    "GET /v1/auditEntries": ok({ entries: [] }),
    "POST /v1/tokens": () => Response.json({ token: token(7), secret }),
  };
  openApp("/admin/tokens?new", answers);
  await screen.findByLabelText("Name");
  fill();
  send();
  await screen.findByText(secret);
  const leaving = new Event("beforeunload", { cancelable: true });
  window.dispatchEvent(leaving);
  expect(leaving.defaultPrevented).toBe(true);
  const nav = () => within(screen.getByRole("navigation", { name: "Admin" }));
  fireEvent.click(nav().getByRole("link", { name: "Audit" }));
  const question = await screen.findByRole("alertdialog", { name: "The token was not copied" });
  fireEvent.click(within(question).getByRole("button", { name: "Stay" }));
  await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
  screen.getByText(secret);

  answers["GET /v1/tokens"] = () => refused(401, "SESSION_EXPIRED");
  fireEvent.click(screen.getByRole("button", { name: "Read again" }));
  const out = await screen.findByRole("alertdialog", { name: "You were signed out." });
  expect(out.textContent).toContain("The token shown is lost when you sign in.");
  fireEvent.click(within(out).getByRole("button", { name: "Stay on this page" }));

  Object.assign(navigator, { clipboard: { writeText: async () => undefined } });
  fireEvent.click(screen.getByRole("button", { name: "Copy" }));
  await screen.findByText("Copied the token");
  fireEvent.click(nav().getByRole("link", { name: "Audit" }));
  await waitFor(() => expect(location.pathname).toBe("/admin/audit"));
});

test("a name that an active token has already is said as the field is left", async () => {
  openApp("/admin/tokens?new", {
    ...admin,
    "GET /v1/tokens": ok({ tokens: [token(7), token(71)], total: 2 }),
  });
  const name = await screen.findByLabelText("Name");
  fireEvent.change(name, { target: { value: "token-7 " } });
  fireEvent.blur(name);
  expect((await screen.findByText(/^An active token has this name/)).textContent).toContain(
    "orl_abcd7xxx… by admin-1.",
  );
  fireEvent.change(name, { target: { value: "token-77" } });
  expect(screen.queryByText(/^An active token has this name/)).toBeNull();
});

test("a day that is missing is told once it is sent, at its field, which then has the focus", async () => {
  openApp("/admin/tokens?new", { ...admin, "GET /v1/tokens": ok({ tokens: [], total: 0 }) });
  await screen.findByLabelText("Name");
  send();
  fill();
  fireEvent.click(screen.getByRole("button", { name: "Last day" }));
  const day = screen.getByLabelText("Last day", { selector: "input" });
  expect(day.getAttribute("aria-invalid")).toBe("false");
  send();
  await waitFor(() => expect(document.activeElement).toBe(day));
  expect(day.getAttribute("aria-invalid")).toBe("true");
  expect(document.getElementById(day.getAttribute("aria-describedby") ?? "")?.textContent).toContain(
    "Choose a day",
  );
});

test("who is signed out in a form is told so in words, and that nothing was made", async () => {
  openApp("/admin/tokens?new", {
    ...admin,
    "GET /v1/tokens": ok({ tokens: [], total: 0 }),
    "POST /v1/tokens": () => refused(401, "SIGN_IN_NEEDED"),
  });
  await screen.findByLabelText("Name");
  fill();
  send();
  const form = screen.getByRole("form", { name: "New token" });
  const note = await within(form).findByRole("alert");
  expect(note.textContent).toBe("You were signed out. Nothing was made. What you typed is kept.");
});
