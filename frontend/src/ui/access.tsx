import { createContext, type ReactNode, useContext } from "react";
import type { Scope, Session } from "#/api/oriel.gen.ts";
import { lackOf } from "#/lib/roles.ts";
import { type Field, usualFacets } from "#/lib/search.ts";

const AccessContext = createContext<Session | undefined>(undefined);

/** Tells the controls of a page who is asking. */
export function AccessProvider({ session, children }: { session: Session | undefined; children: ReactNode }) {
  return <AccessContext value={session}>{children}</AccessContext>;
}

/** Who is asking, as far as that is known. */
export function useCaller(): Session | undefined {
  return useContext(AccessContext);
}

/** The installation's facet fields, whose names are parameters. */
export function useFacetNames(): readonly Field[] {
  return useCaller()?.facets ?? usualFacets;
}

/** For a control's `unavailable`: which role it needs, where the caller has none that will do. */
export function useLack(scope: Scope): string | undefined {
  const caller = useCaller();
  return caller && lackOf(caller, scope);
}
