import { type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import type { ApiError } from "#/lib/http.ts";
import { Badge, Kbd } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";

export interface QueryBarHandle {
  readonly focus: () => void;
}

/** The words of the search. Text that was typed but not run is marked as such. */
export function QueryBar({
  ref,
  applied,
  fault,
  faultId,
  onApply,
  onLeave,
}: {
  ref: Ref<QueryBarHandle>;
  applied: string;
  /** What the server said against the applied query. */
  fault: ApiError | undefined;
  /** Where the page says it. */
  faultId: string;
  onApply: (query: string) => void;
  /** Escape, with nothing to take back. */
  onLeave: () => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(applied);
  useEffect(() => setText(applied), [applied]);
  useImperativeHandle(ref, () => ({
    focus: () => {
      input.current?.focus();
      input.current?.select();
    },
  }));
  const edited = text !== applied;
  const shownFault = edited ? undefined : fault;
  return (
    <form
      className="relative w-full min-w-0 flex-none wide:w-auto wide:flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        onApply(text.trim());
        setText(text.trim());
      }}
    >
      <div
        className={`flex h-11 items-center gap-2 rounded-2 border bg-surface pr-1 pl-2.5 focus-within:border-focus focus-within:outline-1 focus-within:outline-focus wide:h-8 ${shownFault ? "border-error" : "border-line-3"}`}
      >
        <Icon name="search" className="text-ink-3" />
        <input
          ref={input}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            event.preventDefault();
            if (edited) setText(applied);
            else {
              input.current?.blur();
              onLeave();
            }
          }}
          placeholder="Words to find, such as declined"
          aria-label="Words to find"
          aria-invalid={shownFault !== undefined}
          aria-describedby={shownFault ? faultId : undefined}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          enterKeyHint="search"
          className="h-full min-w-0 flex-1 bg-transparent font-mono text-[16px]/5 outline-none placeholder:text-ink-3 wide:text-[13px]/5"
        />
        {edited ? (
          <>
            <Badge look="warning">not applied</Badge>
            <button type="submit" className="rounded-1" title="Run the query" aria-label="Run the query">
              <Kbd>Enter</Kbd>
            </button>
          </>
        ) : (
          <span className="hidden pr-1 wide:inline">
            <Kbd>/</Kbd>
          </span>
        )}
      </div>
    </form>
  );
}
