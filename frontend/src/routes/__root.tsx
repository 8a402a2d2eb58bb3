import { createRootRoute, Outlet, useRouter, useRouterState } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import { AppFailed } from "#/features/shell/Failed.tsx";
import { NotFound } from "#/features/shell/NotFound.tsx";
import { Shell } from "#/features/shell/Shell.tsx";
import { readZone, writeZone } from "#/lib/prefs.ts";
import { formatQuery, type Params } from "#/lib/search.ts";
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

/** Of pages that show times; their address says in which zone. */
const withTimes = /^\/(?:explore|overview|events|admin)(?:\/|$)/;

function Root() {
  const { params, go } = useUrl();
  const router = useRouter();
  // The address wins; where it names no zone, the one that was chosen last holds and goes into it.
  const [chosen, setChosen] = useState(readZone);
  const named = params.zone?.[0] ?? chosen ?? utc;
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const missing = params.zone === undefined && chosen !== undefined && withTimes.test(path);
  useEffect(() => {
    if (!missing) return;
    // What the page is on its way to, as it stands.
    const { pathname, search, state } = router.history.location;
    if (!withTimes.test(pathname) || /[?&]zone=/.test(search)) return;
    const zone = formatQuery({ zone: [chosen] });
    router.history.replace(`${pathname}${search.length > 1 ? `${search}&${zone.slice(1)}` : zone}`, state);
  }, [missing, chosen, router]);
  const setZone = useCallback(
    (zone: string) => {
      const kept = zone === utc ? undefined : zone;
      writeZone(kept);
      setChosen(kept);
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
