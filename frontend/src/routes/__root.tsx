import { createRootRoute, Outlet } from "@tanstack/react-router";
import { useCallback } from "react";
import { AppFailed } from "#/features/shell/Failed.tsx";
import { NotFound } from "#/features/shell/NotFound.tsx";
import { Shell } from "#/features/shell/Shell.tsx";
import type { Params } from "#/lib/search.ts";
import { isZone, utc } from "#/lib/time.ts";
import { CopyProvider } from "#/ui/copy.tsx";
import { KeysProvider } from "#/ui/keys.tsx";
import { SheetProvider } from "#/ui/sheet.tsx";
import { useUrl } from "#/ui/url.ts";
import { ZoneProvider } from "#/ui/zone.tsx";

export const Route = createRootRoute({
  validateSearch: (raw): Params => raw as Params,
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: AppFailed,
});

function Root() {
  const { params, go } = useUrl();
  const named = params.zone?.[0] ?? utc;
  const setZone = useCallback(
    (zone: string) => {
      const { zone: _, ...rest } = params;
      go(zone === utc ? rest : { ...rest, zone: [zone] }, { replace: true });
    },
    [params, go],
  );
  return (
    <ZoneProvider zone={isZone(named) ? named : utc} setZone={setZone}>
      <KeysProvider>
        <SheetProvider>
          <CopyProvider>
            <Shell>
              <Outlet />
            </Shell>
          </CopyProvider>
        </SheetProvider>
      </KeysProvider>
    </ZoneProvider>
  );
}
