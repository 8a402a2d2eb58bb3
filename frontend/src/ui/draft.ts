import { useCallback, useState } from "react";
import { dropDraft, readDraft, writeDraft } from "#/lib/draft.ts";
import { useCaller } from "./access.tsx";

interface Draft<T> {
  readonly value: T;
  readonly set: (next: T) => void;
  /** Forgets it, as it was sent or given up. */
  readonly drop: () => void;
}

/**
 * The values of a form that outlive a sign-in. `read` takes what was stored, or refuses what is not
 * of the form; whether the form is open belongs into the URL.
 */
export function useDraft<T>(key: string, initial: T, read: (stored: unknown) => T | undefined): Draft<T> {
  const owner = useCaller()?.id;
  const [value, setValue] = useState(
    () => (owner === undefined ? undefined : read(readDraft(key, owner))) ?? initial,
  );
  const set = useCallback(
    (next: T) => {
      setValue(next);
      if (owner !== undefined) writeDraft(key, owner, next);
    },
    [key, owner],
  );
  const drop = useCallback(() => {
    if (owner !== undefined) dropDraft(key, owner);
  }, [key, owner]);
  return { value, set, drop };
}
