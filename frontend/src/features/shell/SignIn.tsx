import { useQuery } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import type { Installation } from "#/api/oriel.gen.ts";
import { here, safeReturn, signInUrl, underBase } from "#/lib/base.ts";
import type { ApiError } from "#/lib/http.ts";
import type { Params } from "#/lib/search.ts";
import { buttonClass, Note } from "#/ui/controls.tsx";
import { Mark } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";
import { NoSignIn } from "./NoSession.tsx";
import { installationQuery } from "./session.ts";
import { signInError } from "./sign-in-errors.ts";
import type { SessionState } from "./useSessionWatch.ts";

/** The page `/sign-in`, where a sign-in that failed comes back to. */
export function SignInPage({ state }: { state: SessionState }) {
  const params = useRouterState({ select: ({ location }) => location.search as Params });
  const back = safeReturn(params.return?.[0]);
  return <SignIn state={state} back={back} reason={params.error?.[0]} request={params.request?.[0]} />;
}

/** In the place of any page that is opened without a session: its address stays. */
export function SignInHere({ state, error }: { state: SessionState; error: ApiError }) {
  useRouterState({ select: ({ location }) => location.href });
  return <SignIn state={state} back={here()} ended={error.reason === "SESSION_EXPIRED"} />;
}

function SignIn({
  state: { session, pending },
  back,
  ended = false,
  reason,
  request,
}: {
  state: SessionState;
  /** Where the browser is after it. */
  back: string;
  /** There was a session. */
  ended?: boolean;
  reason?: string | undefined;
  request?: string | undefined;
}) {
  const { data: installation, isPending } = useQuery(installationQuery);
  useEffect(() => {
    document.title = "Sign in · Oriel";
  }, []);
  const failure = reason === undefined ? undefined : signInError(reason, request, installation);
  if (isPending || pending) return <main className="min-h-0 flex-1" />;
  if (installation && !installation.signIn && !session) return <NoSignIn />;
  return (
    <Entrance installation={installation}>
      {failure && (
        <div className="my-2 w-full text-left text-wrap">
          <Note look="error" fact={failure.fact} codes={failure.codes || undefined}>
            {failure.text}
          </Note>
        </div>
      )}
      {session ? (
        <>
          <p className="text-ink-2">
            You are signed in as <Visible text={session.name} />.
          </p>
          <a href={underBase(back)} className={buttonClass("primary", "large")}>
            Continue
          </a>
        </>
      ) : (
        <>
          {ended && <p className="text-ink-2">Your session has ended.</p>}
          <SignInLink installation={installation} back={back} again={failure !== undefined} />
          <p className="text-ink-3">You return to the page you asked for.</p>
          {installation?.demo && (
            <p className="text-ink-2">
              On the next page <span className="mono-12 whitespace-nowrap">analyst-1</span>,{" "}
              <span className="mono-12 whitespace-nowrap">operator-1</span> and{" "}
              <span className="mono-12 whitespace-nowrap">admin-1</span> can sign in, each with one press.
            </p>
          )}
        </>
      )}
    </Entrance>
  );
}

/** Mark and name over whatever the page says. */
export function Entrance({
  installation,
  children,
}: {
  installation: Installation | undefined;
  children: ReactNode;
}) {
  return (
    <main className="grid min-h-0 flex-1 content-center justify-items-center gap-2 overflow-auto p-6 text-center t-12 text-balance *:max-w-100">
      <Mark className="size-8" />
      <h1 className="t-16 text-ink">Oriel</h1>
      {installation?.name && (
        <p className="text-ink-2 wrap-anywhere">
          <Visible text={installation.name} />
        </p>
      )}
      {children}
    </main>
  );
}

export function SignInLink({
  installation,
  back,
  again = false,
}: {
  installation: Installation | undefined;
  back: string;
  again?: boolean;
}) {
  const provider = installation?.provider ? ` with ${installation.provider}` : "";
  return (
    <a href={signInUrl(back)} className={`${buttonClass("primary", "large")} my-1 max-w-full`}>
      <span className="cut">{`Sign in${again ? " again" : ""}${provider}`}</span>
    </a>
  );
}
