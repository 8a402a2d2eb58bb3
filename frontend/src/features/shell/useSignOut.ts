import { useMutation } from "@tanstack/react-query";
import { signOut } from "#/api/oriel.gen.ts";
import { here, underBase } from "#/lib/base.ts";
import { dropDrafts } from "#/lib/draft.ts";
import { ApiError } from "#/lib/http.ts";
import { rememberFarewell } from "#/lib/signed-out.ts";
import { tellTabs } from "#/lib/tabs.ts";

interface Leave {
  readonly everywhere: boolean;
  /** The next sign-in goes back to this page rather than to the first one. */
  readonly comeBack?: boolean;
}

const signedOutPage = "/signed-out";

/** Where the browser goes now: an address of the provider, or a page of ours. */
function nextOf(next: string): string {
  try {
    const url = new URL(next, location.href);
    return /^https?:$/.test(url.protocol) ? url.href : underBase(signedOutPage);
  } catch {
    return underBase(signedOutPage);
  }
}

/** Ends the session and leaves the page. A session that has ended meanwhile is signed out as well. */
export function useSignOut() {
  return useMutation({
    mutationFn: async ({ everywhere, comeBack = false }: Leave) => {
      const back = comeBack ? here() : "/";
      let sessions = 1;
      let next = underBase(signedOutPage);
      try {
        const answer = await signOut(everywhere ? { everywhere } : {});
        sessions = answer.sessions;
        next = nextOf(answer.next);
      } catch (error) {
        const gone = error instanceof ApiError && error.signedOut && !everywhere;
        if (!gone) throw error;
      }
      dropDrafts();
      tellTabs({ session: "" });
      rememberFarewell({ everywhere, sessions, back });
      location.assign(next);
      // Until the browser has left.
      return new Promise<never>(() => undefined);
    },
  });
}
