import { useState } from "react";
import { here, signInUrl } from "#/lib/base.ts";
import { applyTheme, readTheme, type Theme } from "#/lib/prefs.ts";
import { browserZone, utc } from "#/lib/time.ts";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { Dialog } from "#/ui/dialog.tsx";
import { ThemeIcon } from "#/ui/icons.tsx";
import { Menu, type MenuItem } from "#/ui/popover.tsx";
import { useSheetOpen } from "#/ui/sheet.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZoneSwitch } from "#/ui/zone.tsx";
import { ZoneName } from "#/ui/zone-choice.tsx";
import { Account } from "./Account.tsx";
import { HomeLink, MainNav } from "./nav.tsx";
import type { SessionState } from "./useSessionWatch.ts";

export function TopBar({ state, onHelp }: { state: SessionState; onHelp: () => void }) {
  const { session, over, error, checking, check } = state;
  const covered = useSheetOpen();
  const outside = over && session === undefined;
  return (
    <header
      inert={covered}
      className="flex h-12 flex-none items-center gap-1 border-b border-line bg-surface px-4 wide:h-11 wide:px-3 short:h-9"
    >
      <HomeLink title={session && `Oriel ${session.version}`} />
      {!outside && <MainNav />}
      <span className="flex-1" />
      {session?.installation && (
        <span
          className="mr-1 max-w-40 min-w-0 cut rounded-1 border border-line-2 px-1.5 py-px mono-11 text-ink-2 max-wide:hidden"
          title={`This installation is ${session.installation}`}
        >
          <Visible text={session.installation} />
        </span>
      )}
      {session?.demo && (
        <span
          className="mr-1 rounded-1 border border-line-2 px-1.5 py-px mono-11 text-ink-2"
          title="Sample traffic on embedded parts."
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
      {over && session && (
        <a href={signInUrl(here())} className={buttonClass()} title={`${session.name} was signed out`}>
          Sign in
        </a>
      )}
      {!over && session && <Account session={session} />}
      {!over && !session && error && error.code !== 403 && (
        <span role="alert" className="ml-1 flex flex-none items-center gap-2 t-12 text-error">
          <span className="max-wide:sr-only" title={error.message}>
            Who you are could not be read.
          </span>
          <Button
            size="small"
            icon="refresh"
            onClick={check}
            unavailable={checking ? "It is being asked." : undefined}
          >
            Try again
          </Button>
        </span>
      )}
      {!over && !session && !error && (
        <span aria-hidden="true" className="mx-1.5 size-5.5 rounded-full bg-active" />
      )}
    </header>
  );
}

function ZoneMenu() {
  const { zone, setZone } = useZoneSwitch();
  const own = browserZone();
  const zones = [...new Set([utc, own, zone])];
  const items: MenuItem[] = zones.map((name) => ({
    label: name,
    ...(name === own && { hint: "browser" }),
    checked: name === zone,
    onSelect: () => setZone(name),
  }));
  const [naming, setNaming] = useState(false);
  const another: MenuItem = { label: "Another…", icon: "clock", onSelect: () => setNaming(true) };
  return (
    <>
      <Menu
        label="Time zone"
        align="end"
        heading="Time zone of every time shown"
        items={[items, [another]]}
        trigger={{
          className: buttonClass("ghost"),
          title: "Time zone of every time shown",
          "aria-label": `Time zone: ${zone}`,
          children: <span className="max-w-28 cut">{zone}</span>,
        }}
      />
      {naming && (
        <Dialog heading="Time zone of every time shown" onClose={() => setNaming(false)}>
          {(close) => (
            <div className="px-5 pt-3 pb-5 t-12">
              <ZoneName
                onCancel={close}
                onZone={(name) => {
                  close();
                  setZone(name);
                }}
              />
            </div>
          )}
        </Dialog>
      )}
    </>
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
