/** Carries an export from the server into a file. */
import { answerOf } from "#/lib/http.ts";
import { type Format, meterOf } from "./meter.ts";
import type { Sink } from "./sink.ts";

export interface Progress {
  readonly events: number;
  readonly bytes: number;
}

export type Outcome =
  | ({ readonly kind: "whole" } & Progress)
  | ({ readonly kind: "cancelled" } & Progress)
  | ({
      readonly kind: "cut";
      readonly error: Error | undefined;
      readonly reason: string | undefined;
      /** What came is kept as `.partial`. */
      readonly kept: boolean;
    } & Progress);

/** So often the page is told. */
const tick = 100;

/**
 * An export that cannot begin fails; one that began has an outcome, and a file that is cut never has
 * the name of a whole one.
 */
export async function transfer(
  url: string,
  format: Format,
  sink: Sink,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Outcome> {
  let response: Response;
  try {
    response = await answerOf(url, { signal });
  } catch (error) {
    await sink.drop();
    if (signal.aborted) return { kind: "cancelled", events: 0, bytes: 0 };
    throw error;
  }
  const meter = meterOf(format);
  const now = () => ({ events: meter.events, bytes: meter.bytes });
  const cut = async (
    error: Error | undefined,
    reason: string | undefined,
    events: number,
  ): Promise<Outcome> => {
    const kept = await sink.cut();
    return { kind: "cut", error, reason, kept, events, bytes: meter.bytes };
  };
  const reader = response.body?.getReader();
  let told = 0;
  try {
    for (;;) {
      const part = await reader?.read();
      if (!part || part.done) break;
      await sink.write(part.value);
      meter.feed(part.value);
      if (Date.now() - told >= tick) {
        told = Date.now();
        onProgress(now());
      }
    }
    const verdict = meter.end();
    if (!verdict.complete) return await cut(undefined, verdict.reason, verdict.events);
    await sink.done();
    return { kind: "whole", events: verdict.events, bytes: meter.bytes };
  } catch (cause) {
    void reader?.cancel().catch(() => undefined);
    if (signal.aborted) {
      await sink.drop();
      return { kind: "cancelled", ...now() };
    }
    return await cut(cause instanceof Error ? cause : new Error(String(cause)), undefined, meter.events);
  }
}
