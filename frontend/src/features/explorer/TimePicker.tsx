import { rangeText, relative } from "#/lib/time.ts";
import { buttonClass } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Popover } from "#/ui/popover.tsx";
import { WindowChoices, windowName } from "#/ui/window-choices.tsx";
import { useZoneSwitch } from "#/ui/zone.tsx";
import type { Found } from "./useRun.ts";

export const defaultFrom = "-24h";
const presets = ["-15m", "-1h", "-6h", "-24h", "-7d", "-30d"] as const;

export function TimePicker({
  from,
  until,
  found,
  outdated,
  open,
  onOpenChange,
  onChange,
}: {
  from: string | undefined;
  until: string | undefined;
  found: Found | undefined;
  outdated: boolean;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onChange: (from: string | undefined, until: string | undefined) => void;
}) {
  const { zone } = useZoneSwitch();
  const range = literalRange(from, until, outdated ? undefined : found, zone);
  const sliding = windowName(from ?? defaultFrom, until);
  const fixed = sliding === undefined;
  const name = sliding ?? "Fixed window";
  return (
    <Popover
      label="Time window"
      align="end"
      open={open}
      onOpenChange={onOpenChange}
      trigger={{
        className: `${buttonClass("plain", "large")} max-w-full min-w-0 max-wide:max-w-[calc(100%-136px)] max-wide:shrink`,
        title: `${range} (d)`,
        children: (
          <>
            <Icon name="clock" className="-ml-0.5 text-ink-2" />
            <span className={fixed ? "max-wide:sr-only" : ""}>{name}</span>{" "}
            <span
              className={`min-w-0 mono-11 text-ink-3 max-wide:text-left ${fixed ? "max-wide:line-clamp-2 max-wide:whitespace-normal wide:cut" : "cut max-wide:hidden"}`}
            >
              {range}
            </span>
            <Icon name="down" small className="text-ink-2" />
          </>
        ),
      }}
    >
      <WindowChoices
        from={from}
        until={until}
        presets={presets}
        usual={defaultFrom}
        onChoose={(nextFrom, nextUntil) => {
          onOpenChange(false);
          onChange(nextFrom, nextUntil);
        }}
      />
    </Popover>
  );
}

/** The window as dates; where the server has not fixed it yet, as this browser's clock sees it. */
function literalRange(
  from: string | undefined,
  until: string | undefined,
  found: Found | undefined,
  zone: string,
): string {
  if (found) return rangeText(found.from, found.until, zone);
  const now = Date.now();
  const instant = (bound: string) => {
    const span = relative(bound);
    return span ? new Date(now - span.ms).toISOString() : bound;
  };
  const start = instant(from ?? defaultFrom);
  const end = until === undefined ? undefined : instant(until);
  if (Number.isNaN(Date.parse(start)) || (end !== undefined && Number.isNaN(Date.parse(end)))) return "";
  return rangeText(start, end, zone);
}
