import { useCallback, useMemo, useState } from "react";
import type { JsonLayout } from "#/lib/json-layout.ts";
import { containers, firstOpen, withOpen } from "#/lib/json-tree.ts";

export interface TreeState {
  readonly open: Uint8Array;
  /** The line that is shown as the outermost. */
  readonly root: number;
  /** Lines whose long strings are shown to their end. */
  readonly whole: ReadonlySet<number>;
  readonly toggle: (line: number) => void;
  /** Opens or closes everything from the line on that is in it. */
  readonly toggleAll: (line: number, open: boolean) => void;
  readonly focus: (line: number) => void;
  readonly showWhole: (line: number) => void;
}

export function useTreeState(layout: JsonLayout): TreeState {
  const first = useMemo(() => firstOpen(layout), [layout]);
  const [open, setOpen] = useState(first);
  const [root, setRoot] = useState(0);
  const [whole, setWhole] = useState<ReadonlySet<number>>(() => new Set());
  const toggle = useCallback((line: number) => setOpen((was) => withOpen(was, [line], !was[line])), []);
  const toggleAll = useCallback(
    (line: number, to: boolean) => setOpen((was) => withOpen(was, containers(layout, line), to)),
    [layout],
  );
  const focus = useCallback((line: number) => {
    setRoot(line);
    setOpen((was) => withOpen(was, [line], true));
  }, []);
  const showWhole = useCallback((line: number) => setWhole((was) => new Set(was).add(line)), []);
  return { open, root, whole, toggle, toggleAll, focus, showWhole };
}
