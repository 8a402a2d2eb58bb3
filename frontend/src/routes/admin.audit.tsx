import { createFileRoute } from "@tanstack/react-router";
import { PagePartFailed } from "#/features/shell/Failed.tsx";
import { Guard } from "#/features/shell/Guard.tsx";
import { AuditPart } from "#/parts.ts";

export const Route = createFileRoute("/admin/audit")({ component: Audit, loader: AuditPart.preload });

function Audit() {
  return (
    <Guard what="The audit record" scope="admin:read">
      <AuditPart failed={PagePartFailed} />
    </Guard>
  );
}
