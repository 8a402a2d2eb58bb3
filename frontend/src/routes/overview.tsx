import { createFileRoute } from "@tanstack/react-router";
import { PagePartFailed } from "#/features/shell/Failed.tsx";
import { OverviewPart } from "#/parts.ts";

export const Route = createFileRoute("/overview")({ component: Overview, loader: OverviewPart.preload });

function Overview() {
  return <OverviewPart failed={PagePartFailed} />;
}
