import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ApiError } from "#/lib/http.ts";
import { useKeys } from "#/ui/keys.tsx";
import { KeyHelp } from "./KeyHelp.tsx";
import { NoSession } from "./NoSession.tsx";
import { sessionQuery } from "./session.ts";
import { TopBar } from "./TopBar.tsx";

/** The frame of every page: the bar, the key help, and the page where the caller may see one. */
export function Shell({ children }: { children: ReactNode }) {
  const session = useQuery(sessionQuery);
  const [help, setHelp] = useState(false);
  useKeys({
    "?": (event) => {
      event.preventDefault();
      setHelp(true);
    },
  });
  const { error } = session;
  const refused = error instanceof ApiError && [401, 403].includes(error.code) ? error : undefined;
  return (
    <>
      <TopBar session={session.data} onHelp={() => setHelp(true)} />
      {refused ? <NoSession error={refused} /> : children}
      {help && <KeyHelp onClose={() => setHelp(false)} />}
    </>
  );
}
