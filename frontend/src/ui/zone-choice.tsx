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
    { value: utc, label: "UTC" },
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

/** Names are completed by what the browser knows; another spelling of one is taken as well. */
export function ZoneName({ onZone }: { onZone: (zone: string) => void }) {
  const [text, setText] = useState("");
  const [tried, setTried] = useState(false);
  const [now] = useState(Date.now);
  const names = useId();
  const hint = useId();
  const name = text.trim().replaceAll(" ", "_");
  const known = name !== "" && isZone(name);
  const [zones] = useState(() => Intl.supportedValuesOf?.("timeZone") ?? none);
  const use = (event: FormEvent) => {
    event.preventDefault();
    // It may stand within a form for something else.
    event.stopPropagation();
    setTried(true);
    if (known) onZone(spelled(name, zones));
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
        aria-invalid={tried && !known}
        placeholder="Europe/Berlin"
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
      <span id={hint} className={`w-full ${tried && !known ? "text-error" : "text-ink-3"}`}>
        {zoneHint(name, known, tried, now)}
      </span>
    </form>
  );
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

function zoneHint(name: string, known: boolean, tried: boolean, now: number): string {
  if (known) return `${name} is ${offsetLabel(now, name)} now.`;
  if (tried) return "There is no such zone. Accepted: names such as Asia/Kolkata.";
  return "By its name in the time zone database.";
}
