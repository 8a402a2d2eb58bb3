import { useRouter, useRouterState } from "@tanstack/react-router";
import { useCallback } from "react";
import { formatQuery, type Params } from "#/lib/search.ts";

interface Url {
  readonly params: Params;
  /** Shows other parameters on the same page. `replace` makes no step to go back to. */
  readonly go: (params: Params, options?: { replace?: boolean; opened?: boolean }) => void;
}

/**
 * The URL's parameters. The path is written back as it stands: an event's name has escapes in it
 * that must not be decoded and made anew.
 */
export function useUrl(): Url {
  const router = useRouter();
  const params = useRouterState({ select: (state) => state.location.search as Params });
  const go = useCallback<Url["go"]>(
    (next, { replace = false, opened } = {}) => {
      const { history } = router;
      const href = `${history.location.pathname}${formatQuery(next)}`;
      // Replaced, an entry was still made by what made it.
      const state = (opened ?? (replace && history.location.state.opened)) ? { opened: true } : undefined;
      if (replace) history.replace(href, state);
      else history.push(href, state);
    },
    [router],
  );
  return { params, go };
}
