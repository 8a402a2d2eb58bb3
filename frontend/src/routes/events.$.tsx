import { createFileRoute, useRouter, useRouterState } from "@tanstack/react-router";
import { PartFailed } from "#/features/shell/Failed.tsx";
import { NotFound } from "#/features/shell/NotFound.tsx";
import type { Params } from "#/lib/search.ts";
import { EventPagePart } from "#/parts.ts";

export const Route = createFileRoute("/events/$")({ component: EventRoute });

const prefix = "/events/";

function EventRoute() {
  const router = useRouter();
  // Decoded, a name could be cut in more than one way: it is taken from the address as it stands.
  const path = useRouterState({ select: () => router.history.location.pathname });
  const time = useRouterState({ select: (state) => (state.location.search as Params).time?.[0] });
  const name = path.slice(prefix.length);
  if (name === "") return <NotFound />;
  return (
    <EventPagePart
      open={{ name, time }}
      failed={(failure) => (
        <main className="min-h-0 flex-1">
          <PartFailed {...failure} />
        </main>
      )}
    />
  );
}
