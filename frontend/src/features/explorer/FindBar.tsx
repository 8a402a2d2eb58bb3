import { type Ref, useEffect, useId, useImperativeHandle, useRef } from "react";
import { Button } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { nextMatch } from "./find.ts";
import type { Find } from "./useFind.ts";
import type { Run } from "./useRun.ts";

/** Looks for a text in the rows that are loaded, and goes from one to the next. */
export function FindBar({
  ref,
  find,
  run,
  cursor,
  onGo,
  onClose,
}: {
  ref: Ref<{ readonly focus: () => void }>;
  find: Find;
  run: Run;
  cursor: number;
  onGo: (index: number) => void;
  onClose: () => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const says = useId();
  useEffect(() => input.current?.focus(), []);
  useImperativeHandle(ref, () => ({
    focus: () => {
      input.current?.focus();
      input.current?.select();
    },
  }));
  const { text = "", matches } = find;
  const go = (by: 1 | -1) => {
    const next = matches && nextMatch(matches, cursor, by);
    if (next !== undefined) onGo(next);
    else if (matches && text.trim() !== "" && run.hasMore) run.more();
  };
  const none = matches?.length === 0 ? "Nothing is found." : undefined;
  return (
    <search
      aria-label="Find in results"
      className="pointer-events-auto flex max-w-full flex-wrap items-center gap-1 rounded-3 bg-raised p-1.5 t-12 shadow-pop fade-in"
    >
      <span className="flex h-11 items-center gap-2 rounded-2 border border-line-3 bg-surface px-2 focus-within:outline-2 focus-within:outline-focus wide:h-7">
        <Icon name="search" small className="text-ink-3" />
        <input
          ref={input}
          value={text}
          aria-label="Find in results"
          aria-describedby={says}
          placeholder="Find in loaded rows"
          autoComplete="off"
          spellCheck={false}
          className="h-full w-44 bg-transparent text-[16px]/5 outline-none placeholder:text-ink-3 wide:text-[12px]/4"
          onChange={(event) => find.setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return;
            if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
            else if (event.key === "Escape") onClose();
            else return;
            event.preventDefault();
            event.stopPropagation();
          }}
        />
      </span>
      <span id={says} role="status" className="min-w-36 px-1 text-ink-2">
        {told(find, run, cursor)}
      </span>
      {run.hasMore && (
        <Button
          look="ghost"
          size="small"
          unavailable={run.loadingMore ? "They are being read." : undefined}
          onClick={run.more}
        >
          Load more
        </Button>
      )}
      <Button
        look="ghost"
        size="small"
        icon="up"
        aria-label="Previous"
        title="Previous (Shift Enter)"
        unavailable={none}
        onClick={() => go(-1)}
      />
      <Button
        look="ghost"
        size="small"
        icon="down"
        aria-label="Next"
        title="Next (Enter)"
        unavailable={none}
        onClick={() => go(1)}
      />
      <Button
        look="ghost"
        size="small"
        icon="close"
        aria-label="Close find"
        title="Close (Esc)"
        onClick={onClose}
      />
    </search>
  );
}

function told({ text = "", matches }: Find, run: Run, cursor: number): string {
  const loaded = run.found?.events.length ?? 0;
  const rows = `${loaded.toLocaleString("en")} loaded ${loaded === 1 ? "row" : "rows"}`;
  if (text.trim() === "") return `In ${rows}`;
  if (!matches) return "Looking…";
  if (matches.length === 0) return `None in ${rows}`;
  const at = matches.indexOf(cursor);
  const count = matches.length.toLocaleString("en");
  return `${at < 0 ? count : `${(at + 1).toLocaleString("en")} of ${count}`} in ${rows}`;
}
