import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { underBase } from "#/lib/base.ts";
import { readFarewell } from "#/lib/signed-out.ts";
import { buttonClass } from "#/ui/controls.tsx";
import { Visible } from "#/ui/visible.tsx";
import { Entrance, SignInLink } from "./SignIn.tsx";
import { installationQuery } from "./session.ts";
import type { SessionState } from "./useSessionWatch.ts";

/** Where a sign-out ends, ours or the identity provider's. */
export function SignedOutPage({ state: { session, pending } }: { state: SessionState }) {
  const { data: installation, isPending } = useQuery(installationQuery);
  const [farewell] = useState(readFarewell);
  useEffect(() => {
    document.title = "Signed out · Oriel";
  }, []);
  if (isPending || pending) return <main className="min-h-0 flex-1" />;
  if (session) {
    return (
      <Entrance installation={installation}>
        <p className="text-ink-2">
          You are signed in as <Visible text={session.name} />.
        </p>
        <a href={underBase("/")} className={buttonClass("primary", "large")}>
          Continue
        </a>
      </Entrance>
    );
  }
  return (
    <Entrance installation={installation}>
      <h2 className="mt-2 t-13 font-semibold text-ink">You are signed out</h2>
      {farewell?.everywhere && (
        <p className="text-ink-2">
          {farewell.sessions === 1
            ? "1 session ended, this one."
            : `${farewell.sessions.toLocaleString("en")} sessions ended, in every browser you were signed in with.`}
        </p>
      )}
      {installation?.signIn && <SignInLink installation={installation} back={farewell?.back ?? "/"} />}
    </Entrance>
  );
}
