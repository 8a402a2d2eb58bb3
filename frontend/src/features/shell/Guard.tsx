import { type ReactNode, useEffect, useState } from "react";
import type { Scope } from "#/api/oriel.gen.ts";
import { mayDo } from "#/lib/roles.ts";
import { RoleTooLowPart } from "#/parts.ts";
import { useCaller } from "#/ui/access.tsx";
import { PagePartFailed } from "./Failed.tsx";

/**
 * A page that needs a scope, or what it needs in its place. Where it is not known who asks, the
 * server says so in the page itself.
 */
export function Guard({ what, scope, children }: { what: string; scope: Scope; children: ReactNode }) {
  const session = useCaller();
  const may = session !== undefined && mayDo(session, scope);
  const [opened, setOpened] = useState(false);
  useEffect(() => {
    if (may) setOpened(true);
  }, [may]);
  if (!session || may) return children;
  return <RoleTooLowPart what={what} scope={scope} session={session} lost={opened} failed={PagePartFailed} />;
}
