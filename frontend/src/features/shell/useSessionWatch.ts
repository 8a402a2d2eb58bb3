import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useEffectEvent, useLayoutEffect, useState } from "react";
import type { Session } from "#/api/oriel.gen.ts";
import { ApiError, showCaller, watchSession } from "#/lib/http.ts";
import { joinTabs, tellTabs } from "#/lib/tabs.ts";
import { installationQuery, sessionQuery } from "./session.ts";

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
  /** Somebody else than this tab showed is signed in since; until it was read. */
  readonly swap: Swap | undefined;
  readonly swapRead: () => void;
}

interface Swap {
  /** A request of the page that was open was refused for it. */
  readonly refused: boolean;
}

interface Loss {
  readonly error: ApiError;
  readonly at: number;
}

const checkAgainAfter = 30_000;
const retryEvery = 5000;

/** A session as tabs compare it. */
function sameAs({ id, createTime = "" }: Session): string {
  return `${id} ${createTime}`;
}

/**
 * Who is signed in, as far as any answer of the server has told. A page that is looked at again asks
 * anew, and so does one that hears of a sign-in or a sign-out from another tab.
 */
export function useSessionWatch(): SessionState {
  const client = useQueryClient();
  const query = useQuery({
    ...sessionQuery,
    refetchInterval: ({ state }) =>
      state.error instanceof ApiError && state.error.transient ? retryEvery : false,
  });
  const { data: session, dataUpdatedAt, refetch } = query;
  const [loss, setLoss] = useState<Loss>();
  const [refusedFor, setRefusedFor] = useState<string>();
  const [swap, setSwap] = useState<Swap>();
  const check = useCallback(() => void refetch({ cancelRefetch: false }), [refetch]);
  const id = session?.id;

  const hear = useEffectEvent((error: ApiError) => {
    if (error.signedOut) setLoss({ error, at: Date.now() });
    else {
      if (error.callerChanged) setRefusedFor(id);
      check();
    }
  });
  useEffect(() => watchSession((error) => hear(error)), []);

  const over = loss !== undefined && loss.at >= dataUpdatedAt;
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== "visible") return;
      const asked = client.getQueryState(sessionQuery.queryKey);
      const last = Math.max(asked?.dataUpdatedAt ?? 0, asked?.errorUpdatedAt ?? 0);
      if (over || Date.now() - last >= checkAgainAfter) check();
    };
    document.addEventListener("visibilitychange", look);
    window.addEventListener("focus", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      window.removeEventListener("focus", look);
    };
  }, [client, check, over]);

  const shown = session === undefined || over ? "" : sameAs(session);
  const heard = useEffectEvent((other: string) => {
    if (other !== shown) check();
  });
  useEffect(() => joinTabs((other) => heard(other.session)), []);
  useEffect(() => {
    if (shown !== "") tellTabs({ session: shown });
  }, [shown]);

  // Signed in again elsewhere: what failed meanwhile is asked again.
  useEffect(() => {
    if (!loss || over) return;
    setLoss(undefined);
    void client.refetchQueries({ predicate: ({ state }) => state.status === "error" });
  }, [client, loss, over]);

  // Nothing that one person read is shown to another: between the two there is no page.
  const [person, setPerson] = useState<string>();
  const changing = id !== undefined && id !== person;
  useLayoutEffect(() => {
    if (id === undefined || id === person) return;
    showCaller(id);
    if (person !== undefined) {
      const kept = [sessionQuery.queryKey[0], installationQuery.queryKey[0]];
      client.removeQueries({ predicate: ({ queryKey }) => !kept.some((key) => key === queryKey[0]) });
      setSwap({ refused: refusedFor === person });
    }
    setPerson(id);
  }, [client, id, person, refusedFor]);
  useEffect(() => () => showCaller(undefined), []);
  const swapRead = useCallback(() => setSwap(undefined), []);

  const failure = query.error instanceof ApiError ? query.error : undefined;
  return {
    session,
    error: over ? loss.error : failure,
    over: over || (session === undefined && failure?.code === 401),
    pending: changing || (query.isPending && !over),
    checking: query.isFetching,
    check,
    swap,
    swapRead,
  };
}
