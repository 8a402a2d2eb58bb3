import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import type { Session } from "#/api/oriel.gen.ts";
import { ApiError, watchSession } from "#/lib/http.ts";
import { sessionQuery } from "./session.ts";

export interface SessionState {
  readonly session: Session | undefined;
  /** Why there is none, or no longer. */
  readonly error: ApiError | undefined;
  /** It is known that nobody is signed in, while a page of someone who was may still be open. */
  readonly over: boolean;
  /** Neither is known yet. */
  readonly pending: boolean;
  readonly checking: boolean;
  readonly check: () => void;
}

interface Loss {
  readonly error: ApiError;
  readonly at: number;
}

const checkAgainAfter = 30_000;
const retryEvery = 5000;

const reloadPage = () => location.reload();

/**
 * Who is signed in, as far as any answer of the server has told. A page that becomes visible again
 * asks anew: meanwhile another tab may have signed out, or in.
 */
export function useSessionWatch(reload = reloadPage): SessionState {
  const client = useQueryClient();
  const query = useQuery({
    ...sessionQuery,
    refetchInterval: ({ state }) =>
      state.error instanceof ApiError && state.error.transient ? retryEvery : false,
  });
  const { data: session, dataUpdatedAt, refetch } = query;
  const [loss, setLoss] = useState<Loss>();
  const check = useCallback(() => void refetch({ cancelRefetch: false }), [refetch]);

  useEffect(
    () =>
      watchSession((error) => {
        if (error.signedOut) setLoss({ error, at: Date.now() });
        else check();
      }),
    [check],
  );

  const over = loss !== undefined && loss.at >= dataUpdatedAt;
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== "visible") return;
      const asked = client.getQueryState(sessionQuery.queryKey);
      const last = Math.max(asked?.dataUpdatedAt ?? 0, asked?.errorUpdatedAt ?? 0);
      if (over || Date.now() - last >= checkAgainAfter) check();
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [client, check, over]);

  // Signed in again elsewhere: what failed meanwhile is asked again.
  useEffect(() => {
    if (!loss || over) return;
    setLoss(undefined);
    void client.refetchQueries({ predicate: ({ state }) => state.status === "error" });
  }, [client, loss, over]);

  // Nothing that one person read is shown to another.
  const id = session?.id;
  const [person, setPerson] = useState<string>();
  useEffect(() => {
    if (id === undefined || over) return;
    if (person !== undefined && person !== id) reload();
    setPerson(id);
  }, [id, over, person, reload]);

  const failure = query.error instanceof ApiError ? query.error : undefined;
  return {
    session,
    error: over ? loss.error : failure,
    over: over || (session === undefined && failure?.code === 401),
    pending: query.isPending && !over,
    checking: query.isFetching,
    check,
  };
}
