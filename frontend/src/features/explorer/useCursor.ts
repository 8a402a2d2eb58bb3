import { useRouter } from "@tanstack/react-router";
import { type RefObject, useCallback, useMemo, useState } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import { shortName } from "#/lib/event-name.ts";
import type { OpenEvent, Search } from "#/lib/search.ts";
import type { ListHandle } from "./useVirtualRows.ts";

/** Changes the search of the page. */
export type Show = (next: Partial<Search>, options?: { replace?: boolean; opened?: boolean }) => void;

/** Which row the keys act on, and the event that lies open beside the list. */
export interface Cursor {
  /** Negative where no row is. */
  readonly at: number;
  /** Where the open event is; negative where it is none of the rows. */
  readonly openIndex: number;
  readonly set: (index: number) => void;
  readonly open: (index: number) => void;
  readonly close: () => void;
  /** Brings the row into sight; beside an open event that one is opened. */
  readonly moveTo: (index: number) => void;
  readonly step: (by: 1 | -1) => void;
  /** The same for a row that may be far away. */
  readonly goTo: (index: number) => void;
}

export function useCursor(
  events: readonly Event[],
  opened: OpenEvent | undefined,
  list: RefObject<ListHandle | null>,
  show: Show,
): Cursor {
  const router = useRouter();
  const openIndex = useMemo(() => indexOf(events, opened), [events, opened]);
  const [moved, setMoved] = useState(-1);
  // The open event is where the cursor is, whatever moved it there.
  const at = opened ? openIndex : Math.min(moved, events.length - 1);

  const open = useCallback(
    (index: number) => {
      const event = events[index];
      if (!event) return;
      setMoved(index);
      const target = { name: shortName(event.name), time: event.occurredAt };
      // One step back closes, however many rows were walked through.
      const already = opened !== undefined;
      const marked = already ? router.history.location.state.opened === true : true;
      show({ open: target }, { replace: already, opened: marked });
    },
    [events, opened, show, router],
  );
  const close = useCallback(() => {
    if (openIndex >= 0) setMoved(openIndex);
    if (router.history.location.state.opened) router.history.back();
    else show({ open: undefined }, { replace: true });
    list.current?.focus();
  }, [openIndex, router, show, list]);
  const moveTo = useCallback(
    (index: number) => {
      if (events.length === 0) return;
      const next = Math.max(0, Math.min(index, events.length - 1));
      list.current?.reveal(next);
      if (opened) open(next);
      else setMoved(next);
    },
    [events.length, opened, open, list],
  );
  const step = useCallback((by: 1 | -1) => moveTo(at < 0 ? 0 : at + by), [moveTo, at]);
  const goTo = useCallback(
    (index: number) => {
      list.current?.show(index);
      if (opened) open(index);
      else setMoved(index);
    },
    [opened, open, list],
  );
  return { at, openIndex, set: setMoved, open, close, moveTo, step, goTo };
}

function indexOf(events: readonly Event[], open: OpenEvent | undefined): number {
  if (!open) return -1;
  return events.findIndex(
    (event) =>
      shortName(event.name) === open.name && (open.time === undefined || event.occurredAt === open.time),
  );
}
