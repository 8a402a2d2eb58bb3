import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  type EventDetail,
  getEvent,
  getGetEventDataUrl,
  getGetEventUrl,
  getPublishEventsUrl,
} from "#/api/oriel.gen.ts";
import { underBase } from "#/lib/base.ts";
import { ApiError } from "#/lib/http.ts";
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

export interface EventRead {
  readonly detail: EventDetail | undefined;
  readonly error: Error | undefined;
  readonly reading: boolean;
  readonly cancelled: boolean;
  readonly retry: () => void;
  readonly cancel: () => void;
}

const retryEvery = 5000;

/** Reads an event. While the server cannot be reached it is asked again every few seconds. */
export function useEvent(open: OpenEvent): EventRead {
  const client = useQueryClient();
  const options = eventQuery(open);
  const { data, error, isFetching, refetch } = useQuery({
    ...options,
    refetchInterval: ({ state }) => (isPassing(state.error) ? retryEvery : false),
  });
  // What it said last stays while it is asked again, so that the note does not blink.
  const name = `${open.name} ${open.time}`;
  const [failure, setFailure] = useState<{ name: string; error: Error }>();
  if (error && failure?.error !== error) setFailure({ name, error });
  const last = isFetching && failure?.name === name ? failure.error : undefined;
  return {
    detail: data,
    error: data ? undefined : (error ?? last),
    reading: isFetching,
    cancelled: !data && !error && !isFetching,
    retry: () => void refetch(),
    cancel: () => void client.cancelQueries({ queryKey: options.queryKey, exact: true }),
  };
}

function isPassing(error: Error | null): boolean {
  return error instanceof ApiError && error.transient;
}

/** Where the exact bytes are. */
export function dataUrl(open: OpenEvent): string {
  return underBase(getGetEventDataUrl(open.name, params(open)));
}

/** The address at which programs read it, in full. */
export function apiUrl(open: OpenEvent): string {
  return new URL(underBase(getGetEventUrl(open.name, params(open))), location.href).href;
}

/** The address at which programs publish events, in full. */
export function publishUrl(): string {
  return new URL(underBase(getPublishEventsUrl()), location.href).href;
}
