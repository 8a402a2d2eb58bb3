import { useCallback, useState } from "react";
import { type FacetPrefs, readFacetPrefs, writeFacetPrefs } from "#/lib/prefs.ts";

export interface Prefs extends FacetPrefs {
  readonly setHidden: (hidden: boolean) => void;
  readonly setOpen: (field: string, open: boolean) => void;
  readonly setPinned: (field: string, pinned: boolean) => void;
}

/** Which fields this browser has on top, open and closed. */
export function useFacetPrefs(): Prefs {
  const [prefs, setPrefs] = useState(readFacetPrefs);
  const change = useCallback(
    (next: (prefs: FacetPrefs) => Partial<FacetPrefs>) =>
      setPrefs((now) => {
        const changed = { ...now, ...next(now) };
        writeFacetPrefs(changed);
        return changed;
      }),
    [],
  );
  return {
    ...prefs,
    setHidden: useCallback((hidden) => change(() => ({ hidden })), [change]),
    setOpen: useCallback(
      (field, open) => change((now) => ({ open: { ...now.open, [field]: open } })),
      [change],
    ),
    setPinned: useCallback(
      (field, pinned) =>
        change((now) => ({
          pinned: pinned
            ? [...now.pinned.filter((name) => name !== field), field]
            : now.pinned.filter((name) => name !== field),
        })),
      [change],
    ),
  };
}
