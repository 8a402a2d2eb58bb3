import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Session } from "#/api/oriel.gen.ts";
import { applyTheme, readTheme, type Theme } from "#/lib/prefs.ts";
import { browserZone, utc } from "#/lib/time.ts";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { Mark, ThemeIcon } from "#/ui/icons.tsx";
import { Menu, type MenuItem } from "#/ui/popover.tsx";
import { useSheetOpen } from "#/ui/sheet.tsx";
import { useZoneSwitch } from "#/ui/zone.tsx";

export function TopBar({ session, onHelp }: { session: Session | undefined; onHelp: () => void }) {
  const covered = useSheetOpen();
  return (
    <header
      inert={covered}
      className="flex h-12 flex-none items-center gap-1 border-b border-line bg-surface px-4 wide:h-11 wide:px-3"
    >
      <Link
        to="/explore"
        title={session && `Oriel ${session.version}`}
        className="mr-4 flex h-10 items-center gap-2 wide:h-8 rounded-2 text-[14px]/5 font-semibold tracking-[-0.01em]"
      >
        <Mark />
        Oriel
      </Link>
      <nav aria-label="Main" className="hidden self-stretch wide:flex">
        <Link
          to="/explore"
          className="relative flex items-center px-2.5 text-ink-2 hover:text-ink"
          activeProps={{
            className:
              "font-medium text-ink after:absolute after:inset-x-2.5 after:-bottom-px after:h-0.5 after:rounded-t-[2px] after:bg-accent",
          }}
        >
          Explore
        </Link>
      </nav>
      <span className="flex-1" />
      {session?.demo && (
        <span
          className="mr-1 rounded-1 border border-line-2 px-1.5 py-px mono-11 text-ink-2"
          title="Sample traffic on embedded parts. Everyone on this machine is signed in as the demo analyst."
        >
          demo
        </span>
      )}
      <ZoneMenu />
      <ThemeMenu />
      <Button
        look="ghost"
        icon="keyboard"
        className="max-wide:hidden"
        aria-label="Keyboard shortcuts"
        title="All keys (?)"
        onClick={onHelp}
      />
      <Who session={session} />
    </header>
  );
}

function ZoneMenu() {
  const { zone, setZone } = useZoneSwitch();
  const own = browserZone();
  const zones = [...new Set([utc, own, zone])];
  const items: MenuItem[] = zones.map((name) => ({
    label: name,
    ...(name === own && name !== utc && { hint: "browser" }),
    checked: name === zone,
    onSelect: () => setZone(name),
  }));
  return (
    <Menu
      label="Time zone"
      align="end"
      heading="Time zone of every time shown"
      items={[items]}
      trigger={{
        className: buttonClass("ghost"),
        title: "Time zone of every time shown",
        "aria-label": `Time zone: ${zone}`,
        children: <span className="max-w-28 cut">{zone}</span>,
      }}
    />
  );
}

const themes: readonly { theme: Theme; label: string }[] = [
  { theme: "system", label: "As the system" },
  { theme: "dark", label: "Dark" },
  { theme: "light", label: "Light" },
];

function ThemeMenu() {
  const [theme, setTheme] = useState(readTheme);
  const items = themes.map((entry) => ({
    label: entry.label,
    checked: entry.theme === theme,
    onSelect: () => {
      applyTheme(entry.theme);
      setTheme(entry.theme);
    },
  }));
  return (
    <Menu
      label="Theme"
      align="end"
      heading="Theme"
      items={[items]}
      trigger={{
        className: buttonClass("ghost", "normal", true),
        "aria-label": "Theme",
        title: "Theme",
        children: <ThemeIcon />,
      }}
    />
  );
}

/** The first letters of two words, or the first two of one. */
function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return words.length > 1
    ? words
        .slice(0, 2)
        .map((word) => word.slice(0, 1))
        .join("")
    : name.slice(0, 2);
}

function Who({ session }: { session: Session | undefined }) {
  if (!session) return <span className="size-5.5 rounded-full bg-active" />;
  const role = session.roles.at(-1) ?? "token";
  return (
    <span className="flex items-center gap-1.5 pl-1 t-12 text-ink-2" title={`${session.name}, ${role}`}>
      <span
        aria-hidden="true"
        className="grid size-5.5 place-items-center rounded-full bg-accent-tint text-[10px] font-semibold text-accent uppercase"
      >
        {initials(session.name)}
      </span>
      <span className="hidden wide:inline">{session.name}</span>
      <span className="sr-only wide:hidden">{`Signed in as ${session.name}`}</span>
    </span>
  );
}
