import { type FormEvent, useId, useState } from "react";
import { browserZone, isZone, offsetLabel, utc } from "#/lib/time.ts";
import { Button, Segments } from "./controls.tsx";
import { useZoneSwitch } from "./zone.tsx";

/** The zone of every time shown: UTC, the browser's, or one by its name. */
export function ZoneChoice() {
  const { zone, setZone } = useZoneSwitch();
  const [naming, setNaming] = useState(false);
  const own = browserZone();
  const listed = zone === utc || zone === own;
  const options = [
    own === utc ? { value: utc, label: "UTC, browser" } : { value: utc, label: "UTC" },
    { value: own, label: "Browser", title: own },
    { value: listed ? "named" : zone, label: listed ? "Named…" : zone, title: "Any zone, by its name" },
  ].filter((option, index, all) => all.findIndex(({ value }) => value === option.value) === index);
  return (
    <>
      <Segments
        label="Time zone"
        value={naming ? "named" : zone}
        options={options}
        onChange={(next) => {
          const byName = next === "named" || (next === zone && !listed);
          setNaming(byName);
          if (!byName) setZone(next);
        }}
      />
      {naming && (
        <ZoneName
          onCancel={() => setNaming(false)}
          onZone={(next) => {
            setNaming(false);
            setZone(next);
          }}
        />
      )}
    </>
  );
}

const none: readonly string[] = [];

/** Names are completed by what the browser knows; a city alone, or another spelling, is taken as well. */
export function ZoneName({ onZone, onCancel }: { onZone: (zone: string) => void; onCancel: () => void }) {
  const [text, setText] = useState("");
  const [tried, setTried] = useState(false);
  const [now] = useState(Date.now);
  const names = useId();
  const hint = useId();
  const [zones] = useState(() => Intl.supportedValuesOf?.("timeZone") ?? none);
  const name = text.trim().replaceAll(" ", "_");
  const found = name === "" ? undefined : findZone(name, zones);
  const use = (event: FormEvent) => {
    event.preventDefault();
    // It may stand within a form for something else.
    event.stopPropagation();
    setTried(true);
    if (found) onZone(found);
  };
  return (
    <form className="flex w-full flex-wrap items-center gap-2" onSubmit={use}>
      <input
        // biome-ignore lint/a11y/noAutofocus: it appears where it was asked for
        autoFocus
        value={text}
        list={names}
        aria-label="Name of the zone"
        aria-describedby={hint}
        aria-invalid={tried && !found}
        placeholder="Tokyo, or Europe/Berlin"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        className="h-11 min-w-0 flex-1 rounded-2 border border-line-3 bg-surface px-2 font-mono text-[16px]/4 text-ink placeholder:text-ink-3 wide:h-7 wide:text-[12px]/4"
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <datalist id={names}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <Button type="submit">Use</Button>
      <Button look="ghost" onClick={onCancel}>
        Cancel
      </Button>
      <span id={hint} className={`w-full ${tried && !found ? "text-error" : "text-ink-3"}`}>
        {zoneHint(found, tried, now)}
      </span>
    </form>
  );
}

const regions = [
  "Europe",
  "America",
  "Asia",
  "Australia",
  "Africa",
  "Pacific",
  "Atlantic",
  "Indian",
  "Antarctica",
];

/** The zone of a name, or of a city alone: `tokyo` is Asia/Tokyo. */
export function findZone(name: string, zones: readonly string[]): string | undefined {
  if (isZone(name)) return spelled(name, zones);
  const city = `/${name.toLowerCase()}`;
  const listed = zones.find((zone) => zone.toLowerCase().endsWith(city));
  if (listed) return listed;
  // Browsers know more names than they list.
  const region = regions.find((part) => isZone(`${part}/${name}`));
  return region && spelled(`${region}/${name}`.toLowerCase(), zones);
}

/**
 * A zone's name in its proper letters. Browsers list one of several names of a zone, and not always
 * the one in use today, so that others stay as they were typed.
 */
function spelled(name: string, zones: readonly string[]): string {
  const listed = zones.find((zone) => zone.toLowerCase() === name.toLowerCase());
  if (listed || name !== name.toLowerCase()) return listed ?? name;
  return name.replace(/(?<![a-z])[a-z]/g, (letter) => letter.toUpperCase());
}

function zoneHint(found: string | undefined, tried: boolean, now: number): string {
  if (found) return `${found} is ${offsetLabel(now, found)} now.`;
  if (tried) return "There is no such zone. Accepted: names such as Asia/Kolkata, and their cities alone.";
  return "By its name in the time zone database, or its city.";
}
