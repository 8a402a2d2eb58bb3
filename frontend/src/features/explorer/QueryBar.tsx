import {
  type KeyboardEvent,
  type Ref,
  useEffect,
  useEffectEvent,
  useId,
  useImperativeHandle,
  useRef,
  useState,
} from "react";
import { dropDraft, readDraft, writeDraft } from "#/lib/draft.ts";
import type { ApiError } from "#/lib/http.ts";
import { readHistory, remember } from "#/lib/query-history.ts";
import { spelled } from "#/lib/visible.ts";
import { useCaller } from "#/ui/access.tsx";
import { Badge, Kbd } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { part } from "#/ui/part.tsx";
import type { QueryAidsHandle } from "./query/QueryAids.tsx";

/** Colours, completion and mistakes come after the first rows: the bar itself does without. */
const Aids = part(async () => ({ default: (await import("./query/QueryAids.tsx")).QueryAids }));

export interface QueryBarHandle {
  readonly focus: () => void;
  /** The focus again, with the caret where it was. */
  readonly goOn: () => void;
  /** Puts text where the caret last was, to be completed and run. */
  readonly insert: (text: string) => void;
}

const draftKey = "query";

interface Typed {
  readonly text: string;
  readonly caret: number;
  /** The colon before the caret came with a field that was taken from the suggestions. */
  readonly offered?: boolean;
}

/** What stands right behind a field instead of a colon. */
const comparisons = ["<", ">", "=", "!", "~"];

/** The query of the search. Text that was typed but not run is marked as such. */
export function QueryBar({
  ref,
  due,
  applied,
  fault,
  faultId,
  facets,
  narrow,
  onApply,
  onLeave,
}: {
  ref: Ref<QueryBarHandle>;
  /** The first rows are there: what helps to write may come. */
  due: boolean;
  applied: string;
  /** What the server said against the applied query. */
  fault: ApiError | undefined;
  /** Where the page says it. */
  faultId: string;
  /** The installation's facet fields. */
  facets: readonly string[];
  /** There is little room. */
  narrow: boolean;
  onApply: (query: string) => void;
  /** Escape, with nothing to take back. */
  onLeave: () => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  const aids = useRef<QueryAidsHandle>(null);
  const listId = useId();
  const owner = useCaller()?.id;
  const [typed, setTyped] = useState<Typed>(() => atEnd(unsentOf(owner, applied) ?? applied));
  const [opened, setOpened] = useState(false);
  const [focused, setFocused] = useState(false);
  const { text, caret } = typed;
  const place = (next: string, at: number, offered = false) => {
    setTyped({ text: next, caret: at, offered });
    // Once React has written it.
    requestAnimationFrame(() => input.current?.setSelectionRange(at, at));
  };
  const past = useHistory(text, place);
  const [shown, setShown] = useState(applied);
  if (shown !== applied) {
    setShown(applied);
    setTyped(atEnd(applied));
  }
  useUnsent(owner, applied, text);
  useImperativeHandle(ref, () => ({
    focus: () => {
      input.current?.focus();
      input.current?.select();
    },
    goOn: () => input.current?.focus(),
    insert: (piece) => {
      const joined = text.trim() === "" ? piece : `${text.trimEnd()} ${piece}`;
      input.current?.focus();
      place(joined, joined.length);
    },
  }));
  const run = (whole: string) => {
    const query = whole.trim();
    setOpened(false);
    past.ran(query);
    onApply(query);
    setTyped({ text: query, caret: query.length });
  };
  const edited = text !== applied;
  const shownFault = edited ? undefined : fault;
  const goBack = (event: KeyboardEvent): boolean => {
    const by = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : undefined;
    if (!by || !past.step(by)) return false;
    setOpened(false);
    return true;
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    // Once in the history the arrows stay in it.
    const taken =
      (past.at >= 0 && goBack(event)) || aids.current?.onKey(event) || (past.at < 0 && goBack(event));
    if (taken) event.preventDefault();
    else if (event.key === "Escape") {
      event.preventDefault();
      setOpened(false);
      if (edited) place(applied, applied.length);
      else {
        input.current?.blur();
        onLeave();
      }
    }
  };
  return (
    <form
      className="relative w-full min-w-0 flex-none wide:w-auto wide:flex-1 flat:w-auto flat:flex-1"
      onSubmit={(event) => {
        event.preventDefault();
        run(text);
      }}
    >
      <div
        className={`flex h-11 items-center gap-2 rounded-2 border bg-surface pr-1 pl-2.5 focus-within:border-focus focus-within:outline-1 focus-within:outline-focus wide:h-8 short:h-8 ${shownFault ? "border-error" : "border-line-3"}`}
      >
        <Icon name="search" className="text-ink-3" />
        <span className="grid h-full min-w-0 flex-1 *:[grid-area:1/1]">
          {(due || focused) && (
            <Aids
              ref={aids}
              failed={() => null}
              input={input}
              listId={listId}
              text={text}
              caret={caret}
              focused={focused}
              opened={opened}
              onOpened={setOpened}
              fault={shownFault}
              facets={facets}
              history={past.queries}
              onText={(next, at) => place(next, at, next[at - 1] === ":")}
              onRun={run}
            />
          )}
          <input
            ref={input}
            value={text}
            onChange={(event) => {
              const { value, selectionStart } = event.currentTarget;
              setOpened(true);
              const [before, behind] = [text.slice(0, caret), text.slice(caret)];
              const compares = comparisons.find((sign) => value === before + sign + behind);
              if (typed.offered && compares) place(before.slice(0, -1) + compares + behind, caret);
              else setTyped({ text: value, caret: selectionStart ?? value.length });
            }}
            onSelect={(event) => {
              const at = event.currentTarget.selectionStart ?? text.length;
              setTyped((now) => (now.caret === at ? now : { text: now.text, caret: at }));
            }}
            onFocus={() => {
              past.begin();
              setFocused(true);
              // An empty bar says what may stand in it.
              setOpened(text === "");
            }}
            onBlur={() => {
              setOpened(false);
              setFocused(false);
            }}
            onKeyDown={onKeyDown}
            placeholder={narrow ? "Words, or field:value" : "Words, or field:value, such as severity>=error"}
            aria-label="Words to find"
            aria-invalid={shownFault !== undefined}
            aria-describedby={shownFault ? faultId : undefined}
            autoComplete="off"
            autoCapitalize="off"
            autoCorrect="off"
            spellCheck={false}
            enterKeyHint="search"
            className="z-1 size-full min-w-0 bg-transparent font-mono text-[16px]/5 text-ink caret-ink outline-none placeholder:text-ink-3 peer-data-paint:not-placeholder-shown:text-transparent peer-data-paint:selection:text-transparent wide:text-[13px]/5 forced-colors:!text-[CanvasText]"
          />
        </span>
        {past.at >= 0 && (
          <span role="status" className="flex-none t-11 text-ink-3 max-wide:hidden">
            {past.at + 1} of {past.queries.length}
          </span>
        )}
        {spelled(text) !== text && (
          <Badge look="warning" title={`The query has characters that cannot be seen: ${spelled(text)}`}>
            hidden characters
          </Badge>
        )}
        {edited ? (
          <>
            <Badge look="warning">not applied</Badge>
            <button
              type="submit"
              className="rounded-1"
              title="Run the query"
              aria-label="Enter: run the query"
            >
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

function atEnd(text: string): Typed {
  return { text, caret: text.length };
}

/** What was typed and not run, as the page was left for a sign-in. */
function unsentOf(owner: string | undefined, applied: string): string | undefined {
  const draft = owner === undefined ? undefined : readDraft(draftKey, owner);
  const [of, typed] = Array.isArray(draft) ? (draft as unknown[]) : [];
  return of === applied && typeof typed === "string" ? typed : undefined;
}

/** Keeps it as the page is left. */
function useUnsent(owner: string | undefined, applied: string, text: string): void {
  const leave = useEffectEvent(() => {
    if (owner !== undefined && text !== applied) writeDraft(draftKey, owner, [applied, text]);
  });
  useEffect(() => {
    if (owner !== undefined) dropDraft(draftKey, owner);
    const listen = () => leave();
    window.addEventListener("pagehide", listen);
    return () => window.removeEventListener("pagehide", listen);
  }, [owner]);
}

/** Earlier queries, gone through with the arrows; what was being typed is the newest of them. */
function useHistory(text: string, place: (text: string, caret: number) => void) {
  const owner = useCaller()?.id ?? "";
  const [queries, setQueries] = useState<readonly string[]>([]);
  const [at, setAt] = useState(-1);
  const draft = useRef("");
  // Typed on, it is a text of its own.
  const current = at >= 0 && queries[at] === text ? at : -1;
  return {
    queries,
    at: current,
    begin: () => {
      setQueries(readHistory(owner));
      setAt(-1);
    },
    step: (by: 1 | -1): boolean => {
      if (current < 0) draft.current = text;
      // The one that stands there already is no step.
      const others = current < 0 && queries[0] === text && by === 1 ? 2 : 1;
      const next = current + by * (current < 0 ? others : 1);
      if (next < -1 || next >= queries.length) return false;
      const query = next < 0 ? draft.current : (queries[next] ?? "");
      setAt(next);
      place(query, query.length);
      return true;
    },
    ran: (query: string) => {
      remember(owner, query);
      setQueries(readHistory(owner));
      setAt(-1);
    },
  };
}
