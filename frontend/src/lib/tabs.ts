/**
 * Tabs of one browser tell each other whom they show, as they share the session. A tab that shows
 * someone else, or nobody, asks the server anew: what another tab says is a hint and never the answer.
 */
import { basePath } from "./base.ts";

export interface TabCaller {
  /** The id of the session's person and when it began; empty as it ends. */
  readonly session: string;
}

function isTabCaller(raw: unknown): raw is TabCaller {
  return typeof raw === "object" && raw !== null && "session" in raw && typeof raw.session === "string";
}

/** One for the whole tab: a second would hear what the first tells. */
let joined: BroadcastChannel | undefined;

/** Joins the tabs; `heard` gets what the others tell. Without the browser's means a tab is alone. */
export function joinTabs(heard: (caller: TabCaller) => void): () => void {
  if (typeof BroadcastChannel === "undefined") return () => undefined;
  const channel = new BroadcastChannel(`oriel${basePath()}`);
  channel.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (isTabCaller(data)) heard(data);
  };
  joined = channel;
  return () => {
    channel.close();
    if (joined === channel) joined = undefined;
  };
}

export function tellTabs(caller: TabCaller): void {
  joined?.postMessage(caller);
}
