import { useCallback, useEffect, useState } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import type { Column } from "#/lib/search.ts";
import { inSlices, type Outcome } from "#/lib/slices.ts";
import type { FarCells } from "./cells.ts";
import { findRows } from "./find.ts";

export interface Find {
  /** What is looked for; undefined where nothing is, and the bar is closed. */
  readonly text: string | undefined;
  /** Indexes of rows; undefined while they are looked for. */
  readonly matches: readonly number[] | undefined;
  readonly setText: (text: string) => void;
  readonly open: () => void;
  readonly close: () => void;
}

/** Finds a text in the loaded rows, a slice at a time: ten thousand of them do not hold the page up. */
export function useFind(events: readonly Event[], columns: readonly Column[], far: FarCells): Find {
  const [text, setText] = useState<string>();
  const [matches, setMatches] = useState<readonly number[]>();
  const asked = text ?? "";
  useEffect(() => {
    if (asked.trim() === "") {
      setMatches([]);
      return undefined;
    }
    const done = (outcome: Outcome<readonly number[]>) => setMatches("value" in outcome ? outcome.value : []);
    const running = inSlices(findRows(events, columns, far, asked), done);
    if (typeof running === "function") {
      setMatches(undefined);
      return running;
    }
    done(running);
    return undefined;
  }, [events, columns, far, asked]);
  const open = useCallback(() => setText((before) => before ?? ""), []);
  const close = useCallback(() => setText(undefined), []);
  return { text, matches, setText, open, close };
}
