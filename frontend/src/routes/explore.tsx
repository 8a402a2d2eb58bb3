import { createFileRoute } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { Explorer } from "#/features/explorer/Explorer.tsx";

const EventDrawer = lazy(() => import("#/features/event/EventDrawer.tsx"));

export const Route = createFileRoute("/explore")({ component: Explore });

function Explore() {
  return (
    <Explorer
      detail={(props) => (
        <Suspense fallback={null}>
          <EventDrawer {...props} />
        </Suspense>
      )}
    />
  );
}
