import { Link, useRouterState } from "@tanstack/react-router";
import type { Params } from "#/lib/search.ts";
import { utc } from "#/lib/time.ts";
import { Icon, type IconName, Mark } from "#/ui/icons.tsx";
import { useSheetOpen } from "#/ui/sheet.tsx";
import { useZone } from "#/ui/zone.tsx";

interface Place {
  readonly label: string;
  readonly icon: IconName;
  readonly to: "/overview" | "/explore" | "/admin/tokens";
  /** The paths below it count as the place as well. */
  readonly under: "/overview" | "/explore" | "/admin";
}

/** For everyone: who may not see a place is told there what it needs. */
const places: readonly Place[] = [
  { label: "Overview", icon: "gauge", to: "/overview", under: "/overview" },
  { label: "Explore", icon: "list", to: "/explore", under: "/explore" },
  { label: "Admin", icon: "shield", to: "/admin/tokens", under: "/admin" },
];

function useSection(): Place["under"] | undefined {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return places.find(({ under }) => path === under || path.startsWith(`${under}/`))?.under;
}

/** Every time shown stays in the zone that was chosen. */
export function useZoneParams(): Params {
  const zone = useZone();
  return zone === utc ? {} : { zone: [zone] };
}

export function HomeLink({ title }: { title: string | undefined }) {
  return (
    <Link
      to="/explore"
      search={useZoneParams()}
      title={title}
      className="mr-4 flex h-10 items-center gap-2 rounded-2 text-[14px]/5 font-semibold tracking-[-0.01em] wide:h-8 short:h-8"
    >
      <Mark />
      Oriel
    </Link>
  );
}

export function MainNav() {
  const at = useSection();
  const zone = useZoneParams();
  return (
    <nav aria-label="Main" className="hidden self-stretch wide:flex flat:flex">
      {places.map(({ label, to, under }) => (
        <Link
          key={to}
          to={to}
          search={zone}
          activeProps={{}}
          aria-current={at === under ? "page" : undefined}
          className="relative flex items-center px-2.5 text-ink-2 hover:text-ink aria-[current]:font-medium aria-[current]:text-ink aria-[current]:after:absolute aria-[current]:after:inset-x-2.5 aria-[current]:after:-bottom-px aria-[current]:after:h-0.5 aria-[current]:after:rounded-t-[2px] aria-[current]:after:bg-accent"
        >
          {label}
        </Link>
      ))}
    </nav>
  );
}

/** In one column the places stand below the page. */
export function TabBar() {
  const at = useSection();
  const zone = useZoneParams();
  const covered = useSheetOpen();
  return (
    <nav
      inert={covered}
      aria-label="Main"
      className="grid h-14 flex-none auto-cols-fr grid-flow-col border-t border-line bg-surface wide:hidden flat:hidden"
    >
      {places.map(({ label, icon, to, under }) => (
        <Link
          key={to}
          to={to}
          search={zone}
          activeProps={{}}
          aria-current={at === under ? "page" : undefined}
          className="grid place-content-center justify-items-center gap-0.5 t-11 font-medium text-ink-2 aria-[current]:text-accent"
        >
          <Icon name={icon} className="size-5" />
          {label}
        </Link>
      ))}
    </nav>
  );
}
