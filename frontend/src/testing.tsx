/** The whole app over answers that a test gives, in a document without layout. */
import { createBrowserHistory } from "@tanstack/react-router";
import { cleanup, render } from "@testing-library/react";
import { vi } from "vitest";
import type { AuditEntry, Session, Token } from "#/api/oriel.gen.ts";
import { createApp } from "./app.tsx";

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
}

type Answer = (asked: Asked) => Response | Promise<Response>;

/** What the document of the tests has not. */
export function completeDocument(): void {
  vi.stubGlobal("matchMedia", () => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }));
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
      unobserve() {}
    },
  );
  vi.stubGlobal("scrollTo", () => undefined);
  Object.assign(HTMLDialogElement.prototype, {
    showModal(this: HTMLDialogElement) {
      this.open = true;
    },
    close(this: HTMLDialogElement) {
      this.open = false;
      this.dispatchEvent(new Event("close"));
    },
  });
  const shown = new WeakSet<Element>();
  Object.assign(HTMLElement.prototype, {
    showPopover(this: HTMLElement) {
      shown.add(this);
    },
    hidePopover(this: HTMLElement) {
      shown.delete(this);
    },
  });
  const matches = Element.prototype.matches;
  vi.spyOn(Element.prototype, "matches").mockImplementation(function (this: Element, selector: string) {
    return selector === ":popover-open" ? shown.has(this) : matches.call(this, selector);
  });
}

/** Opens an address. `answers` are by method and path, such as `GET /v1/session`; they may be changed. */
export function openApp(path: string, answers: Record<string, Answer>): { asked: Asked[] } {
  completeDocument();
  const asked: Asked[] = [];
  vi.stubGlobal("fetch", async (input: string, init: RequestInit = {}) => {
    const url = new URL(input, location.href);
    const method = init.method ?? "GET";
    const body = typeof init.body === "string" ? (JSON.parse(init.body) as unknown) : undefined;
    const request = { method, url, body };
    asked.push(request);
    const answer = answers[`${method} ${url.pathname}`];
    return answer ? answer(request) : refused(404, "NOT_FOUND");
  });
  history.replaceState(null, "", path);
  render(createApp(createBrowserHistory()));
  return { asked };
}

export function closeApp(): void {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  sessionStorage.clear();
  document.head.replaceChildren();
}

/** The envelope of a refusal, with what is wrong with each field. */
export function refused(
  code: number,
  reason: string,
  fields: Readonly<Record<string, string>> = {},
): Response {
  const named = Object.entries(fields).map(([attribute, message]) => ({
    reason,
    domain: "oriel",
    message,
    metadata: { attribute },
  }));
  const details = named.length > 0 ? named : [{ reason, domain: "oriel", message: "", metadata: {} }];
  const error = { code, message: "It was refused.", status: "REFUSED", requestId: "req_test", details };
  return Response.json({ error }, { status: code });
}

export function session(
  role: "analyst" | "operator" | "admin" | "none",
  more: Partial<Session> = {},
): Session {
  const roles = ["analyst", "operator", "admin"] as const;
  const all = ["events:read", "operate", "admin:read", "admin:write"];
  const count = { none: [0, 0], analyst: [1, 1], operator: [2, 2], admin: [3, 4] } as const;
  const [held, may] = count[role];
  return {
    name: `${role}-1`,
    id: `issuer#${role}`,
    kind: "person",
    email: `${role}-1@example.com`,
    roles: roles.slice(0, held),
    scopes: all.slice(0, may),
    createTime: "2026-11-30T08:00:00Z",
    expireTime: "2126-11-30T08:00:00Z",
    contact: "platform@example.com",
    demo: false,
    version: "test",
    topic: "events",
    facets: ["device", "person", "room", "tag"],
    ...more,
  };
}

export const installation = {
  name: "orders-test",
  demo: false,
  signIn: true,
  provider: "login.example.com",
};

export function token(number: number, more: Partial<Token> = {}): Token {
  return {
    name: `tokens/${number}`,
    displayName: `token-${number}`,
    prefix: `abcd${number}`.padEnd(8, "x"),
    scopes: ["events:write"],
    state: "active",
    createTime: "2026-11-01T08:00:00Z",
    createdBy: "admin-1",
    ...more,
  };
}

export function auditEntry(operation: string, more: Partial<AuditEntry> = {}): AuditEntry {
  return {
    name: `auditEntries/${operation}`,
    action: "token.create",
    outcome: "done",
    actor: "admin-1",
    actorId: "issuer#admin",
    actorKind: "person",
    roles: ["analyst", "operator", "admin"],
    target: "tokens/7",
    reason: "sensor rollout",
    detail: "",
    intentTime: "2026-11-30T14:58:40.771000Z",
    outcomeTime: "2026-11-30T14:58:40.779000Z",
    requestId: "req_01",
    address: "192.0.2.17",
    ...more,
  };
}
