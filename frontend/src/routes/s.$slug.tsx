import { createFileRoute } from "@tanstack/react-router";
import { SharedSearch } from "#/features/explorer/SharedSearch.tsx";

/** A share link: a long filter under a short name. */
export const Route = createFileRoute("/s/$slug")({ component: Shared });

function Shared() {
  return <SharedSearch slug={Route.useParams().slug} />;
}
