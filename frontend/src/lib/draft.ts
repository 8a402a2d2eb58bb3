/**
 * What a person has typed and not sent, kept for this tab until it is: a sign-in in between must not
 * lose it. A draft belongs to the person who wrote it; another one's is dropped, not shown. Secrets
 * never go in here.
 */

const prefix = "oriel.draft.";

interface Stored {
  readonly owner: string;
  readonly value: unknown;
}

function isStored(raw: unknown): raw is Stored {
  return typeof raw === "object" && raw !== null && "owner" in raw && "value" in raw;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The draft of a form as it was written, which may have been by an older build of the app. */
export function readDraft(key: string, owner: string): unknown {
  try {
    const text = sessionStorage.getItem(prefix + key);
    if (text === null) return undefined;
    const stored = parsed(text);
    if (isStored(stored) && stored.owner === owner) return stored.value;
    sessionStorage.removeItem(prefix + key);
  } catch {
    // Storage is off.
  }
  return undefined;
}

/** Without storage a draft lasts as long as its form. */
export function writeDraft(key: string, owner: string, value: unknown): void {
  try {
    sessionStorage.setItem(prefix + key, JSON.stringify({ owner, value } satisfies Stored));
  } catch {
    // Storage is off, or full.
  }
}

export function dropDraft(key: string): void {
  try {
    sessionStorage.removeItem(prefix + key);
  } catch {
    // Storage is off.
  }
}

/** Of every form, as the person leaves. */
export function dropDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage)) {
      if (key.startsWith(prefix)) sessionStorage.removeItem(key);
    }
  } catch {
    // Storage is off.
  }
}
