import { queryOptions } from "@tanstack/react-query";
import { type EventDetail, getEvent, getGetEventDataUrl } from "#/api/oriel.gen.ts";
import type { OpenEvent } from "#/lib/search.ts";

const params = ({ time }: OpenEvent) => (time === undefined ? {} : { time });

/** An event never changes, so what was read once holds. */
export function eventQuery(open: OpenEvent) {
  return queryOptions({
    queryKey: ["event", open.name, open.time ?? null],
    queryFn: ({ signal }): Promise<EventDetail> => getEvent(open.name, params(open), { signal }),
    gcTime: 120_000,
  });
}

/** Where the exact bytes are. */
export function dataUrl(open: OpenEvent): string {
  return getGetEventDataUrl(open.name, params(open));
}
