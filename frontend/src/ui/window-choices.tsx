import { useId, useState } from "react";
import {
  acceptedBounds,
  type Bound,
  offsetLabel,
  rangeText,
  readBound,
  relative,
  utc,
  writtenTime,
} from "#/lib/time.ts";
import { Button } from "./controls.tsx";
import { useZoneSwitch } from "./zone.tsx";
import { ZoneChoice } from "./zone-choice.tsx";

/** What a popover for a time window holds: windows that end now, bounds to type, and the zone. */
export function WindowChoices({
  from,
  until,
  presets,
  usual,
  things = "events",
  onChoose,
}: {
  from: string | undefined;
  until: string | undefined;
  /** How far back each reaches; undefined to the first. */
  presets: readonly (string | undefined)[];
  /** Where the window begins if none is chosen; undefined where it is open. */
  usual: string | undefined;
  /** What the window is of. */
  things?: string;
  onChoose: (from: string | undefined, until: string | undefined) => void;
}) {
  const { zone } = useZoneSwitch();
  const [now] = useState(Date.now);
  const form = useId();
  return (
    <>
      <ul className="mb-2 border-b border-line pb-2" aria-label="Windows that end now">
        {presets.map((preset) => {
          const span = preset === undefined ? undefined : relative(preset);
          const chosen = until === undefined && (from ?? usual) === preset;
          return (
            <li key={preset ?? ""}>
              <button
                type="button"
                aria-pressed={chosen}
                className="flex h-10 w-full items-center rounded-2 px-2 text-left hover:bg-hover aria-pressed:bg-accent-tint aria-pressed:text-accent wide:h-7"
                onClick={() => onChoose(preset === usual ? undefined : preset, undefined)}
              >
                {span ? `Last ${span.name}` : "Any time"}
                {span && (
                  <span className="ml-auto mono-11 text-ink-3">
                    {rangeText(new Date(now - span.ms).toISOString(), undefined, zone, now)}
                  </span>
                )}
              </button>
            </li>
          );
        })}
      </ul>
      <AbsoluteForm
        id={form}
        from={from}
        until={until}
        usual={usual}
        now={now}
        things={things}
        onChoose={onChoose}
      />
      {/* In sight however little of the rest is. */}
      <div className="sticky -bottom-2 -mx-2 mt-2 -mb-2 flex flex-wrap items-center gap-2 border-t border-line bg-raised px-4 py-2 text-ink-2">
        Zone
        <ZoneChoice />
        <span className="flex-1" />
        <Button type="submit" look="primary" form={form}>
          Apply
        </Button>
      </div>
    </>
  );
}

/** A bound as it stands in a text field: relative as it is, a time in the zone's clock. */
function fieldText(bound: string | undefined, zone: string): string {
  if (bound === undefined) return "";
  return relative(bound) || Number.isNaN(Date.parse(bound)) ? bound : writtenTime(bound, zone);
}

function AbsoluteForm({
  id,
  from,
  until,
  usual,
  now,
  things,
  onChoose,
}: {
  id: string;
  from: string | undefined;
  until: string | undefined;
  usual: string | undefined;
  now: number;
  things: string;
  onChoose: (from: string | undefined, until: string | undefined) => void;
}) {
  const { zone } = useZoneSwitch();
  const [typedFrom, setFrom] = useState<string>();
  const [typedUntil, setUntil] = useState<string>();
  const fromText = typedFrom ?? fieldText(from ?? usual, zone);
  const untilText = typedUntil ?? fieldText(until, zone);
  const [tried, setTried] = useState(false);
  const hint = useId();
  // As in the API: without one it is a day.
  const start = typedBound(typedFrom, from ?? usual, zone, now);
  const end = typedBound(typedUntil, until, zone, now);
  const fault = faultOf(start, end, usual, now);
  return (
    <form
      id={id}
      className="grid grid-cols-[48px_minmax(0,1fr)] items-center gap-x-2 gap-y-1.5 px-2"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (fault === undefined && "value" in start && "value" in end) onChoose(start.value, end.value);
      }}
    >
      <BoundInput
        label="From"
        text={fromText}
        onText={setFrom}
        describedBy={hint}
        placeholder={usual ?? "open: from the first"}
      />
      <BoundInput
        label="Until"
        text={untilText}
        onText={setUntil}
        describedBy={hint}
        placeholder={`open: later ${things} show`}
      />
      <p id={hint} className={`col-span-2 min-h-8 ${tried && fault ? "text-error" : "text-ink-3"}`}>
        {tried && fault
          ? fault
          : (skippedOf(start) ?? skippedOf(end)) ||
            `Times in ${zone === utc ? utc : `${zone} (${offsetLabel(now, zone)})`}, such as ${acceptedBounds}.`}
      </p>
    </form>
  );
}

type Typed = Bound | { readonly value: undefined };

/** A bound that nobody touched stays the instant that it is, however a clock shows it. */
function typedBound(typed: string | undefined, kept: string | undefined, zone: string, now: number): Typed {
  const text = typed?.trim() ?? kept;
  if (text === undefined || text === "") return { value: undefined };
  return readBound(text, zone, now);
}

function skippedOf(bound: Typed): string | undefined {
  return "skipped" in bound ? bound.skipped : undefined;
}

function faultOf(start: Typed, end: Typed, usual: string | undefined, now: number): string | undefined {
  if ("error" in start) return `From: ${start.error}`;
  if ("error" in end) return `Until: ${end.error}`;
  const first = start.value ?? usual;
  if (end.value === undefined || first === undefined) return undefined;
  const instant = (bound: string) => now - (relative(bound)?.ms ?? now - Date.parse(bound));
  return instant(end.value) > instant(first) ? undefined : "Until must be later than From.";
}

function BoundInput({
  label,
  text,
  onText,
  describedBy,
  placeholder,
}: {
  label: string;
  text: string;
  onText: (text: string) => void;
  describedBy: string;
  placeholder: string;
}) {
  const id = useId();
  return (
    <>
      <label htmlFor={id} className="text-ink-2">
        {label}
      </label>
      <input
        id={id}
        value={text}
        placeholder={placeholder}
        aria-describedby={describedBy}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onText(event.currentTarget.value)}
        className="h-11 rounded-2 border border-line-3 bg-surface px-2 font-mono text-[16px]/4 placeholder:text-ink-3 wide:h-7 wide:text-[12px]/4"
      />
    </>
  );
}
