import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import type { Scope, Session } from "#/api/oriel.gen.ts";
import { needed, roleOf } from "#/lib/roles.ts";
import { timeOfDay } from "#/lib/time.ts";
import { Blank } from "#/ui/blank.tsx";
import { Button } from "#/ui/controls.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { SignOutFailed } from "./SignOutFailed.tsx";
import { sessionQuery } from "./session.ts";
import { useSignOut } from "./useSignOut.ts";

/** In the place of every page while a person has no role at all. */
export function NoRole({ session, lost }: { session: Session; lost: boolean }) {
  const leave = useSignOut();
  useEffect(() => {
    document.title = "No access · Oriel";
  }, []);
  return (
    <Wall heading="No role was given to you here">
      {lost && <Lost />}
      <p>
        You are signed in as <Name session={session} />, and nothing here is open without a role.
        <br />
        {session.contact ? (
          <>
            Ask <Visible text={session.contact} /> for one.
          </>
        ) : (
          "Ask those who run this installation for one."
        )}
      </p>
      <p className="text-ink-3">
        One that was given just now may take some minutes to arrive; signing in again asks for it at once.
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        <CheckAgain still="no role" />
        <SomeoneElse leave={leave} />
        <Button onClick={() => leave.mutate({ everywhere: false })}>Sign out</Button>
      </div>
      <SignOutFailed leave={leave} />
    </Wall>
  );
}

/** In the place of a page that needs more than the caller may do. */
export function RoleTooLow({
  what,
  scope,
  session,
  lost,
}: {
  /** The page's subject, which begins the sentence: `Tokens`. */
  what: string;
  scope: Scope;
  session: Session;
  /** The page was open when the role went. */
  lost: boolean;
}) {
  const leave = useSignOut();
  useEffect(() => {
    document.title = `${what} · Oriel`;
  }, [what]);
  const role = roleOf(session);
  return (
    <Wall heading={`${what} ${what.endsWith("s") ? "need" : "needs"} ${needed(session, scope)}`}>
      {lost && <Lost />}
      <p>
        You are signed in as <Name session={session} /> {role ? `with the role ${role}` : "without a role"}.
        <br />
        {session.contact ? (
          <>
            Ask <Visible text={session.contact} /> for it.
          </>
        ) : (
          "Ask those who run this installation for it."
        )}
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        <CheckAgain still={`not ${needed(session, scope)}`} />
        {session.kind === "person" && <SomeoneElse leave={leave} />}
      </div>
      <SignOutFailed leave={leave} />
    </Wall>
  );
}

function Wall({ heading, children }: { heading: string; children: ReactNode }) {
  return (
    <main className="grid min-h-0 flex-1 place-content-center overflow-auto">
      <Blank icon="lock" heading={heading} headingLevel="h1">
        {children}
      </Blank>
    </main>
  );
}

function Name({ session: { name, email } }: { session: Session }) {
  return (
    <b className="font-semibold text-ink wrap-anywhere">
      <Visible text={name} />
      {email && email !== name && (
        <>
          {" "}
          (<Visible text={email} />)
        </>
      )}
    </b>
  );
}

/** To someone in the middle of something. */
function Lost() {
  return (
    <p role="alert" className="text-ink">
      Your role changed while this page was open. Nothing was made of what you had not sent; what you typed is
      kept in this tab.
    </p>
  );
}

/** Asks for the role anew, and says when that was and what it gave. */
function CheckAgain({ still }: { still: string }) {
  const { refetch, isFetching } = useQuery(sessionQuery);
  const zone = useZone();
  const [checked, setChecked] = useState<string>();
  const check = async () => {
    const { isError } = await refetch();
    const at = timeOfDay(new Date().toISOString(), zone, 0);
    setChecked(`Checked at ${at}: ${isError ? "there was no answer." : `still ${still}.`}`);
  };
  return (
    <>
      <p role="status" className="min-h-4 basis-full text-ink-3">
        {checked}
      </p>
      <Button
        icon="refresh"
        onClick={() => void check()}
        unavailable={isFetching ? "It is being asked." : undefined}
      >
        Check again
      </Button>
    </>
  );
}

/** The provider would let the same person in again without a word: its session ends too. */
function SomeoneElse({ leave }: { leave: ReturnType<typeof useSignOut> }) {
  return (
    <Button onClick={() => leave.mutate({ everywhere: false, comeBack: true })}>
      Sign in as someone else
    </Button>
  );
}
