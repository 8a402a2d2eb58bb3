import { useCallback, useMemo, useState } from "react";
import type { Event } from "#/api/oriel.gen.ts";
import { shortName } from "#/lib/event-name.ts";
import type { OpenEvent } from "#/lib/search.ts";

const keyOf = ({ name, occurredAt }: Event) => `${occurredAt} ${name}`;

/** Two events that are compared, the one that was selected first in front. */
export type Pair = readonly [OpenEvent, OpenEvent];

export interface Picked {
  readonly events: readonly Event[];
  readonly has: (event: Event) => boolean;
  readonly toggle: (event: Event) => void;
  readonly clear: () => void;
  readonly pair: Pair | undefined;
}

/** The events that are selected to be compared: two at most, of which the older choice gives way. */
export function usePicked(): Picked {
  const [events, setEvents] = useState<readonly Event[]>([]);
  const toggle = useCallback((event: Event) => setEvents((before) => toggled(before, event)), []);
  const clear = useCallback(() => setEvents([]), []);
  return useMemo(() => {
    const keys = new Set(events.map(keyOf));
    const [first, second] = events;
    return {
      events,
      has: (event) => keys.has(keyOf(event)),
      toggle,
      clear,
      pair: first && second ? [named(first), named(second)] : undefined,
    };
  }, [events, toggle, clear]);
}

export function toggled(events: readonly Event[], event: Event): readonly Event[] {
  const rest = events.filter((other) => keyOf(other) !== keyOf(event));
  return rest.length < events.length ? rest : [...events, event].slice(-2);
}

function named(event: Event): OpenEvent {
  return { name: shortName(event.name), time: event.occurredAt };
}
