import { type ComponentType, type ReactNode, useEffect, useSyncExternalStore } from "react";

type Code<P> =
  | { readonly state: "idle" | "loading" }
  | { readonly state: "ready"; readonly component: ComponentType<P> }
  | { readonly state: "failed"; readonly error: Error };

export interface FailedPart {
  readonly error: Error;
  /** Asks for the code again. */
  readonly retry: () => void;
}

interface Part<P> {
  (props: P & { waiting?: ReactNode; failed: (failure: FailedPart) => ReactNode }): ReactNode;
  /** Fetches the code ahead of its need. A failure is kept quiet: the need asks again. */
  readonly preload: () => void;
}

/**
 * A part of the page whose code comes when it is needed. Where it does not come, as the server is
 * down or a newer build took its place, the page around it stays and says so.
 */
export function part<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): Part<P> {
  let code: Code<P> = { state: "idle" };
  const watchers = new Set<() => void>();
  const become = (next: Code<P>) => {
    code = next;
    for (const tell of watchers) tell();
  };
  const watch = (tell: () => void) => {
    watchers.add(tell);
    return () => {
      watchers.delete(tell);
    };
  };
  const fetchCode = async () => {
    if (code.state === "loading" || code.state === "ready") return;
    become({ state: "loading" });
    try {
      become({ state: "ready", component: (await load()).default });
    } catch (cause) {
      // Nobody waits for it: the next one who needs it starts anew.
      if (watchers.size === 0) become({ state: "idle" });
      else become({ state: "failed", error: cause instanceof Error ? cause : new Error(String(cause)) });
    }
  };
  const start = () => void fetchCode();

  function Loaded({ waiting, failed, ...props }: Parameters<Part<P>>[0]) {
    const now = useSyncExternalStore(watch, () => code);
    useEffect(start, []);
    if (now.state === "ready") {
      const Component = now.component;
      return <Component {...(props as unknown as P)} />;
    }
    return now.state === "failed" ? failed({ error: now.error, retry: start }) : waiting;
  }
  return Object.assign(Loaded, { preload: start });
}

/** Calls back when the browser has nothing better to do, and at the latest after two seconds. */
export function whenIdle(task: () => void): () => void {
  if (!("requestIdleCallback" in window)) {
    const timer = setTimeout(task, 500);
    return () => clearTimeout(timer);
  }
  const handle = requestIdleCallback(task, { timeout: 2000 });
  return () => cancelIdleCallback(handle);
}
