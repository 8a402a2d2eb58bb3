import { useState } from "react";
import { rangeText, relative, windowName } from "#/lib/time.ts";
import { buttonClass } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Popover } from "#/ui/popover.tsx";
import { WindowChoices } from "#/ui/window-choices.tsx";
import { useZone } from "#/ui/zone.tsx";

const presets = [undefined, "-1h", "-24h", "-7d", "-30d", "-365d"] as const;

/** The window of the record that is shown; open on both ends unless one is chosen. */
export function AuditWindow({
  from,
  until,
  onChange,
}: {
  from: string | undefined;
  until: string | undefined;
  onChange: (from: string | undefined, until: string | undefined) => void;
}) {
  const zone = useZone();
  const [open, setOpen] = useState(false);
  const name = from === undefined && until === undefined ? "Any time" : windowName(from, until);
  return (
    <Popover
      label="Time window"
      align="end"
      open={open}
      onOpenChange={setOpen}
      trigger={{
        className: `${buttonClass()} max-w-full min-w-0`,
        children: (
          <>
            <Icon name="clock" className="-ml-0.5 text-ink-2" />
            <span className="min-w-0 cut">{name ?? literal(from, until, zone)}</span>
            <Icon name="down" small className="text-ink-2" />
          </>
        ),
      }}
    >
      <WindowChoices
        from={from}
        until={until}
        presets={presets}
        usual={undefined}
        things="entries"
        onChoose={(nextFrom, nextUntil) => {
          setOpen(false);
          onChange(nextFrom, nextUntil);
        }}
      />
    </Popover>
  );
}

/** The bounds as they were chosen; what cannot be read the server says. */
function literal(from: string | undefined, until: string | undefined, zone: string): string {
  const fixed = (bound: string | undefined) =>
    bound !== undefined && !relative(bound) && !Number.isNaN(Date.parse(bound));
  if (fixed(from) && (until === undefined || fixed(until))) return rangeText(from ?? "", until, zone);
  return `${from ?? "the first"} – ${until ?? "now"}`;
}
