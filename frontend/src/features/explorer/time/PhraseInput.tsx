import { useEffect, useId, useRef, useState } from "react";
import { phraseExamples, readPhrase, type Window } from "#/lib/phrase.ts";
import { exactLength, offsetLabel, rangeText, relative, utc } from "#/lib/time.ts";
import { Button } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { useZone } from "#/ui/zone.tsx";

const shortcuts = ["Today", "Yesterday", "This week", "Last week"] as const;

/** A window in words; what it means as dates stands below it before it is applied. */
export function PhraseInput({
  onChoose,
}: {
  onChoose: (from: string | undefined, until: string | undefined) => void;
}) {
  const zone = useZone();
  const narrow = useNarrow();
  const [now] = useState(Date.now);
  const [text, setText] = useState("");
  const [tried, setTried] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const hint = useId();
  const blank = text.trim() === "";
  const read = readPhrase(text, zone, now);
  const fault = tried && !blank && "error" in read ? read.error : undefined;
  // Under a finger a keyboard would cover the choices below.
  useEffect(() => {
    if (!narrow) input.current?.focus();
  }, [narrow]);
  return (
    <form
      className="mb-2 border-b border-line px-2 pt-1 pb-2"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!("error" in read)) onChoose(read.from, read.until);
      }}
    >
      <span
        className={`flex h-11 items-center gap-2 rounded-2 border bg-surface pr-1 pl-2 focus-within:outline-2 focus-within:outline-offset-1 focus-within:outline-focus wide:h-8 ${fault ? "border-error" : "border-line-3"}`}
      >
        <Icon name="clock" className="text-ink-3" />
        <input
          ref={input}
          data-autofocus={narrow ? undefined : ""}
          value={text}
          aria-label="Window in words"
          aria-describedby={hint}
          aria-invalid={fault !== undefined}
          placeholder={phraseExamples[0]}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          enterKeyHint="go"
          className="h-full min-w-0 flex-1 bg-transparent text-[16px]/5 outline-none placeholder:text-ink-3 wide:text-[12px]/4"
          onChange={(event) => {
            setText(event.currentTarget.value);
            setTried(false);
          }}
        />
      </span>
      <p
        id={hint}
        aria-live="polite"
        className={`mt-1 mb-1.5 min-h-8 ${fault ? "text-error" : "text-ink-3"}`}
      >
        {fault && `${fault} Accepted: ${phraseExamples.slice(1).join("; ")}.`}
        {!fault && !("error" in read) && <span className="text-ink">{told(read, zone, now)}</span>}
        {!fault && "error" in read && `Such as ${phraseExamples.slice(1).join("; ")}.`}
      </p>
      <span className="flex flex-wrap gap-1">
        {shortcuts.map((phrase) => (
          <Button
            key={phrase}
            size="small"
            onClick={() => {
              const window = readPhrase(phrase, zone, now);
              if (!("error" in window)) onChoose(window.from, window.until);
            }}
          >
            {phrase}
          </Button>
        ))}
      </span>
    </form>
  );
}

/** `23 Nov 15:00:00 – 30 Nov 15:02:11 UTC, 7 days` */
function told({ from, until, skipped }: Window, zone: string, now: number): string {
  const instant = (bound: string) => now - (relative(bound)?.ms ?? now - Date.parse(bound));
  const start = instant(from);
  const end = until === undefined ? undefined : instant(until);
  const iso = (ms: number) => new Date(ms).toISOString();
  const range = rangeText(iso(start), end === undefined ? undefined : iso(end), zone, now);
  const label = zone === utc ? utc : `${zone} (${offsetLabel(start, zone)})`;
  return `${range} ${label}, ${exactLength((end ?? now) - start)}${skipped ? `. ${skipped}` : ""}`;
}
