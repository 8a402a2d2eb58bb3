import { createFileRoute, useRouter, useRouterState } from "@tanstack/react-router";
import { EventPage } from "#/features/event/EventPage.tsx";
import type { Params } from "#/lib/search.ts";

export const Route = createFileRoute("/events/$")({ component: EventRoute });

const prefix = "/events/";

function EventRoute() {
  const router = useRouter();
  // Decoded, a name could be cut in more than one way: it is taken from the address as it stands.
  const path = useRouterState({ select: () => router.history.location.pathname });
  const time = useRouterState({ select: (state) => (state.location.search as Params).time?.[0] });
  return <EventPage open={{ name: path.slice(prefix.length), time }} />;
}
