/**
 * What a person has typed and not sent, kept for this tab until it is: a sign-in in between must not
 * lose it. A draft belongs to the person who wrote it and is shown to no other; it waits for its owner
 * until someone signs out in this tab. Secrets never go in here.
 */

const prefix = "oriel.draft.";

function keyOf(key: string, owner: string): string {
  return `${prefix}${owner}.${key}`;
}

/** The draft of a form as it was written, which may have been by an older build of the app. */
export function readDraft(key: string, owner: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(key, owner)) ?? "null") ?? undefined;
  } catch {
    // No draft, or storage is off.
    return undefined;
  }
}

/** Without storage a draft lasts as long as its form. */
export function writeDraft(key: string, owner: string, value: unknown): void {
  try {
    sessionStorage.setItem(keyOf(key, owner), JSON.stringify(value));
  } catch {
    // Storage is off, or full.
  }
}

export function dropDraft(key: string, owner: string): void {
  try {
    sessionStorage.removeItem(keyOf(key, owner));
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
