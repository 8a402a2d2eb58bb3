import type { ErrorDetail, ErrorResponse } from "#/api/oriel.gen.ts";
import { underBase } from "./base.ts";
import { spelled } from "./visible.ts";

/** What the server, or the way to it, said no with. `code` is 0 where no answer came. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  readonly status: string;
  readonly requestId: string;
  readonly details: readonly ErrorDetail[];
  /** Seconds after which the server asks to be tried again. */
  readonly retryAfter: number | undefined;

  constructor(init: {
    code: number;
    status: string;
    message: string;
    requestId?: string;
    details?: readonly ErrorDetail[];
    retryAfter?: number | undefined;
    cause?: unknown;
  }) {
    super(init.message, { cause: init.cause });
    this.code = init.code;
    this.status = init.status;
    this.requestId = init.requestId ?? "";
    this.details = init.details ?? [];
    this.retryAfter = init.retryAfter;
  }

  get reason(): string {
    return this.details[0]?.reason ?? "";
  }

  /** Nobody is signed in, or no longer: the way on is to sign in. */
  get signedOut(): boolean {
    return this.code === 401 && (this.reason === "SIGN_IN_NEEDED" || this.reason === "SESSION_EXPIRED");
  }

  /** Somebody else is signed in than the page was made for: nothing was done. */
  get callerChanged(): boolean {
    return this.code === 409 && this.reason === "CALLER_CHANGED";
  }

  /** Whether the same request may well succeed a little later. */
  get transient(): boolean {
    return this.code === 0 || this.code === 503 || this.code === 504;
  }
}

function isErrorResponse(body: unknown): body is ErrorResponse {
  return (
    typeof body === "object" &&
    body !== null &&
    "error" in body &&
    typeof body.error === "object" &&
    body.error !== null &&
    "message" in body.error &&
    "status" in body.error
  );
}

async function failure(response: Response): Promise<ApiError> {
  const wait = Number(response.headers.get("Retry-After") ?? Number.NaN);
  const common = {
    code: response.status,
    requestId: response.headers.get("X-Request-Id") ?? "",
    retryAfter: Number.isFinite(wait) ? wait : undefined,
  };
  let body: unknown;
  try {
    body = await response.json();
  } catch {
    body = undefined;
  }
  if (!isErrorResponse(body)) {
    // Something between the browser and Oriel answered.
    const message = `The answer was HTTP ${response.status}, and not from Oriel's API.`;
    return new ApiError({ ...common, status: "UNKNOWN", message });
  }
  const { message, status, requestId, details } = body.error;
  return new ApiError({
    ...common,
    // It may quote what was asked.
    message: spelled(message),
    status,
    requestId: requestId || common.requestId,
    details: details ?? [],
  });
}

/** Whether the same request may be answered when it is made again. */
export function mayHelp(error: Error): boolean {
  return !(error instanceof ApiError) || error.transient || error.code >= 500 || error.code === 429;
}

/** An error's codes as one line. */
export function codesOf(error: ApiError): string {
  const reasons = error.details.map(({ reason }) => reason);
  const codes = new Set([error.status, ...reasons, error.requestId && `request ${error.requestId}`]);
  return [...codes].filter(Boolean).join(" · ");
}

/** Whether who is asking may have changed: the session is over, its role is another, or it is another's. */
function concernsSession(error: ApiError): boolean {
  return error.signedOut || error.callerChanged || (error.code === 403 && error.reason === "ROLE_MISSING");
}

/**
 * What a failure means to a person in whose form it happened, where that is another thing than what
 * the program asked may say. `done` is what was to happen: `made`.
 */
export function plainly(error: Error, done: string): { fact: string; text: string } | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const text = `Nothing was ${done}.`;
  if (error.signedOut) return { fact: "You were signed out.", text };
  if (error.callerChanged) return { fact: "Somebody else is signed in now.", text };
  if (error.code === 403 && error.reason === "ROLE_MISSING") return { fact: "Your role changed.", text };
  if (error.code === 429) {
    const wait = error.retryAfter === undefined ? "a minute" : `${error.retryAfter} s`;
    return { fact: "Too much was asked at once.", text: `${text} Try again in ${wait}.` };
  }
  return undefined;
}

/** What a program is told of tokens means another thing in a browser, where someone was signed in. */
function toPerson({ code, status, requestId, details }: ApiError): ApiError {
  return new ApiError({ code, status, requestId, details, message: "You were signed out." });
}

const watchers = new Set<(error: ApiError) => void>();

/** Calls back before a request fails because of the session, whichever request it is. */
export function watchSession(watcher: (error: ApiError) => void): () => void {
  watchers.add(watcher);
  return () => {
    watchers.delete(watcher);
  };
}

let shownCaller: string | undefined;

/**
 * Whom the page shows, by the session's id. Cookies are the browser's and not the tab's: every request
 * names the caller that it is meant to be of, and the server refuses it as anyone else's.
 */
export function showCaller(id: string | undefined): void {
  shownCaller = id;
}

/** An id as a header may have it: the rest, and `%` itself, in escapes. */
function headerText(id: string): string {
  return id.toWellFormed().replace(/[^\x21-\x24\x26-\x7e]/gu, encodeURIComponent);
}

function withCaller(headers: HeadersInit | undefined): Headers {
  const all = new Headers(headers);
  if (shownCaller !== undefined) all.set("Oriel-Caller", headerText(shownCaller));
  return all;
}

/** What generated calls pass: a body may be spelled out as absent. */
export type RequestOptions = Omit<RequestInit, "body"> & { body?: BodyInit | null | undefined };

/** The one way to the API: every failure but an abort becomes an ApiError. */
export async function request<T>(url: string, options: RequestOptions = {}): Promise<T> {
  const response = await answerOf(url, options);
  // Of what is gone there is nothing to say.
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** The same, of an answer whose body is read as it comes. */
export async function answerOf(url: string, options: RequestOptions = {}): Promise<Response> {
  const { body = null, headers, ...rest } = options;
  let response: Response;
  try {
    response = await fetch(underBase(url), {
      credentials: "same-origin",
      ...rest,
      headers: withCaller(headers),
      body,
    });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === "AbortError") throw cause;
    throw new ApiError({ code: 0, status: "UNREACHABLE", message: "The server does not answer.", cause });
  }
  if (!response.ok) {
    const error = await failure(response);
    if (concernsSession(error)) for (const tell of watchers) tell(error);
    throw shownCaller !== undefined && error.signedOut ? toPerson(error) : error;
  }
  return response;
}
