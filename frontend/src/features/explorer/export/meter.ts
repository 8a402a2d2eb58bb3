/** Counts the events of an export as it comes, and says whether it came to its end. */

export type Format = "ndjson" | "csv";

export interface Verdict {
  readonly complete: boolean;
  readonly events: number;
  /** Why it was cut, in the server's words. */
  readonly reason: string | undefined;
}

export interface Meter {
  readonly events: number;
  readonly bytes: number;
  readonly feed: (chunk: Uint8Array) => void;
  /** As the stream has ended without a failure. */
  readonly end: () => Verdict;
}

const lineFeed = 0x0a;
const quote = 0x22;
/** The trailer is a short line. */
const longestTrailer = 16_384;

export function meterOf(format: Format): Meter {
  return format === "csv" ? csvMeter() : ndjsonMeter();
}

function ndjsonMeter(): Meter {
  let lines = 0;
  let bytes = 0;
  let tail = new Uint8Array(0);
  return {
    get events() {
      return Math.max(lines - 1, 0);
    },
    get bytes() {
      return bytes;
    },
    feed(chunk) {
      bytes += chunk.length;
      for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) lines++;
      const joined = new Uint8Array(tail.length + Math.min(chunk.length, longestTrailer));
      joined.set(tail);
      joined.set(chunk.subarray(-longestTrailer), tail.length);
      tail = chunk.length >= longestTrailer ? chunk.slice(-longestTrailer) : joined.slice(-longestTrailer);
    },
    end() {
      const trailer = readTrailer(tail);
      const events = Math.max(lines - (trailer ? 2 : 1), 0);
      if (!trailer) return { complete: false, events, reason: undefined };
      const whole = trailer.complete && trailer.count === events;
      const short = trailer.complete ? `Its last line counts ${trailer.count} events.` : undefined;
      return { complete: whole, events, reason: whole ? undefined : (trailer.reason ?? short) };
    },
  };
}

interface Trailer {
  readonly complete: boolean;
  readonly count: number;
  readonly reason: string | undefined;
}

/** The last line, if it is whole and says how the export ended. */
function readTrailer(tail: Uint8Array): Trailer | undefined {
  if (tail.at(-1) !== lineFeed) return undefined;
  const from = tail.lastIndexOf(lineFeed, tail.length - 2) + 1;
  let line: unknown;
  try {
    line = JSON.parse(new TextDecoder().decode(tail.subarray(from)));
  } catch {
    return undefined;
  }
  if (typeof line !== "object" || line === null || !("trailer" in line)) return undefined;
  const { complete, count, reason } = line.trailer as Readonly<Record<keyof Trailer, unknown>>;
  return {
    complete: complete === true,
    count: Number(count),
    reason: typeof reason === "string" ? reason : undefined,
  };
}

/** Its end is the end of the body: one that is cut fails instead. */
function csvMeter(): Meter {
  let records = 0;
  let bytes = 0;
  let quoted = false;
  return {
    get events() {
      return Math.max(records - 1, 0);
    },
    get bytes() {
      return bytes;
    },
    feed(chunk) {
      bytes += chunk.length;
      for (const byte of chunk) {
        if (byte === quote) quoted = !quoted;
        else if (byte === lineFeed && !quoted) records++;
      }
    },
    end: () => ({ complete: !quoted && records > 0, events: Math.max(records - 1, 0), reason: undefined }),
  };
}
