import { createFileRoute, useRouter, useRouterState } from "@tanstack/react-router";
import { PagePartFailed } from "#/features/shell/Failed.tsx";
import { NotFound } from "#/features/shell/NotFound.tsx";
import { withoutBase } from "#/lib/base.ts";
import type { Params } from "#/lib/search.ts";
import { EventPagePart } from "#/parts.ts";

export const Route = createFileRoute("/events/$")({ component: EventRoute, loader: EventPagePart.preload });

const prefix = "/events/";

function EventRoute() {
  const router = useRouter();
  // Decoded, a name could be cut in more than one way: it is taken from the address as it stands.
  const path = useRouterState({ select: () => router.history.location.pathname });
  const time = useRouterState({ select: (state) => (state.location.search as Params).time?.[0] });
  const name = withoutBase(path).slice(prefix.length);
  if (name === "") return <NotFound />;
  return <EventPagePart open={{ name, time }} failed={PagePartFailed} />;
}
