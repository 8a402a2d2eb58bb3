import { createFileRoute } from "@tanstack/react-router";
import { PagePartFailed } from "#/features/shell/Failed.tsx";
import { Guard } from "#/features/shell/Guard.tsx";
import { TokensPart } from "#/parts.ts";

export const Route = createFileRoute("/admin/tokens")({ component: Tokens, loader: TokensPart.preload });

function Tokens() {
  return (
    <Guard what="Tokens" scope="admin:read">
      <TokensPart failed={PagePartFailed} />
    </Guard>
  );
}
