import { type Ref, useEffect, useId, useImperativeHandle, useRef, useState } from "react";
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
  onApply,
}: {
  ref: Ref<QueryBarHandle>;
  applied: string;
  /** What the server said against the applied query. */
  fault: ApiError | undefined;
  onApply: (query: string) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const faultId = useId();
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
            else input.current?.blur();
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
      {shownFault && (
        <p
          id={faultId}
          role="alert"
          className="absolute inset-x-0 top-full z-10 mt-1 flex gap-1.5 rounded-2 bg-raised px-2.5 py-1.5 t-12 text-error shadow-pop"
        >
          <Icon name="alert" />
          <span className="wrap-anywhere">
            {shownFault.message} <span className="text-ink-2">The last results stay below.</span>
          </span>
        </p>
      )}
    </form>
  );
}
