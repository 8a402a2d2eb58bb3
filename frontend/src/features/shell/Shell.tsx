import { useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useEffectEvent, useState } from "react";
import { forgetFarewell } from "#/lib/signed-out.ts";
import { KeyHelpPart, NoRolePart, SignedOutPart, SignInHerePart, SignInPart } from "#/parts.ts";
import { AccessProvider } from "#/ui/access.tsx";
import { Dialog } from "#/ui/dialog.tsx";
import { useKeys } from "#/ui/keys.tsx";
import { useHandsOff } from "#/ui/useHandsOff.ts";
import { PagePartFailed, PartFailed } from "./Failed.tsx";
import { NoSignIn } from "./NoSession.tsx";
import { TabBar } from "./nav.tsx";
import { SignedOutNote } from "./SignedOutNote.tsx";
import { SkipLink } from "./SkipLink.tsx";
import { SwapNote } from "./SwapNote.tsx";
import { TopBar } from "./TopBar.tsx";
import { type SessionState, useSessionWatch } from "./useSessionWatch.ts";

/** The frame of every page: the bar, the key help, and the page where the caller may see one. */
export function Shell({ children }: { children: ReactNode }) {
  const state = useSessionWatch();
  const { session, over, error } = state;
  const [help, setHelp] = useState(false);
  const [stayed, setStayed] = useState<Error>();
  useKeys({
    "?": (event) => {
      event.preventDefault();
      setHelp(true);
    },
  });
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const within = path !== "/sign-in" && path !== "/signed-out";
  useEffect(() => {
    if (session && !over && within) forgetFarewell();
  }, [session, over, within]);
  const signedOut = within && over && session && error !== stayed ? session : undefined;
  const handsOff = useHandsOff(signedOut !== undefined);
  const page =
    path === "/sign-in" ? (
      <SignInPart state={state} failed={PagePartFailed} />
    ) : path === "/signed-out" ? (
      <SignedOutPart state={state} failed={PagePartFailed} />
    ) : (
      <Inside state={state}>{children}</Inside>
    );
  return (
    <AccessProvider session={session}>
      {within && session && <SkipLink />}
      <TopBar state={state} onHelp={() => setHelp(true)} />
      {within && <SwapNote state={state} />}
      {page}
      {within && session && <TabBar />}
      {help && (
        <KeyHelpPart
          onClose={() => setHelp(false)}
          failed={(failure) => (
            <Dialog heading="Keyboard" onClose={() => setHelp(false)}>
              {() => <PartFailed {...failure} />}
            </Dialog>
          )}
        />
      )}
      {signedOut && handsOff && <SignedOutNote session={signedOut} onStay={() => setStayed(error)} />}
    </AccessProvider>
  );
}

/**
 * The page that was asked for, once it is known who asks. Of someone whose session is over while it
 * is open it stays; where there was none, sign-in takes its place under its address.
 */
function Inside({ state, children }: { state: SessionState; children: ReactNode }) {
  const { session, error, pending } = state;
  // Whose pages were open here.
  const [opened, setOpened] = useState<string>();
  if (pending) return <main className="min-h-0 flex-1" />;
  if (!session && error?.signedOut)
    return <SignInHerePart state={state} error={error} failed={PagePartFailed} />;
  if (!session && (error?.code === 401 || error?.code === 403)) return <NoSignIn error={error} />;
  const person = session?.id ?? "";
  if (session?.kind === "person" && session.roles.length === 0) {
    return <NoRolePart session={session} lost={opened === person} failed={PagePartFailed} />;
  }
  return (
    <Opened key={person} onOpen={() => setOpened(person)}>
      {children}
    </Opened>
  );
}

/** The pages of one person: none of what they hold goes over to another. */
function Opened({ onOpen, children }: { onOpen: () => void; children: ReactNode }) {
  const opened = useEffectEvent(onOpen);
  useEffect(() => opened(), []);
  return children;
}
