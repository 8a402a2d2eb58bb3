import { isToday, rangeText, relative, windowName } from "#/lib/time.ts";
import { buttonClass } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Popover } from "#/ui/popover.tsx";
import { useZone } from "#/ui/zone.tsx";
import { TimeChoicesPart } from "./parts.ts";
import type { Found } from "./useRun.ts";

export const defaultFrom = "-24h";

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
  const zone = useZone();
  const range = literalRange(from, until, outdated ? undefined : found, zone);
  const sliding =
    windowName(from ?? defaultFrom, until) ?? (isToday(from, until, zone, Date.now()) ? "Today" : undefined);
  const fixed = sliding === undefined;
  const name = sliding ?? "Fixed window";
  return (
    <Popover
      label="Time window"
      align="end"
      open={open}
      onOpenChange={onOpenChange}
      trigger={{
        className: `${buttonClass("plain", "large")} max-w-full min-w-0 wide:min-w-73 max-wide:min-w-36 max-wide:flex-1 max-wide:basis-36`,
        title: `${range} (d)`,
        children: (
          <>
            <Icon name="clock" className="-ml-0.5 text-ink-2" />
            <span className={fixed ? "max-wide:sr-only" : ""}>{name}</span>{" "}
            <span
              className={`min-w-0 mono-11 text-ink-3 max-wide:text-left ${fixed ? "max-wide:line-clamp-2 max-wide:text-balance max-wide:whitespace-normal wide:cut" : "cut max-wide:hidden"}`}
            >
              {range}
            </span>
            <Icon name="down" small className="ml-auto text-ink-2" />
          </>
        ),
      }}
    >
      <TimeChoicesPart
        from={from}
        until={until}
        usual={defaultFrom}
        waiting={<div className="h-120" />}
        failed={() => <p className="p-2 text-error">The time picker could not be loaded.</p>}
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
