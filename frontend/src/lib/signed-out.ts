/** What the page after a sign-out says, over the way that leads through the identity provider. */

const key = "oriel.signed-out";

export interface Farewell {
  readonly everywhere: boolean;
  /** How many sessions ended. */
  readonly sessions: number;
  /** Where the next sign-in goes. */
  readonly back: string;
}

export function rememberFarewell(farewell: Farewell): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(farewell));
  } catch {
    // Storage is off: the page says no more than that nobody is signed in.
  }
}

function isFarewell(raw: unknown): raw is Farewell {
  return (
    typeof raw === "object" &&
    raw !== null &&
    "everywhere" in raw &&
    typeof raw.everywhere === "boolean" &&
    "sessions" in raw &&
    typeof raw.sessions === "number" &&
    "back" in raw &&
    typeof raw.back === "string"
  );
}

export function readFarewell(): Farewell | undefined {
  try {
    const raw = JSON.parse(sessionStorage.getItem(key) ?? "null") as unknown;
    return isFarewell(raw) ? raw : undefined;
  } catch {
    return undefined;
  }
}

/** As someone signs in again, it is of the past. */
export function forgetFarewell(): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Storage is off.
  }
}
