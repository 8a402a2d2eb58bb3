import {
  type KeyboardEvent,
  type Ref,
  type RefObject,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { ApiError } from "#/lib/http.ts";
import { Kbd } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";
import { type Mistake, meant, mended, mistakesOf, nameOf } from "./faults.ts";
import { Paint } from "./Paint.tsx";
import { type Completion, useFieldsCalled, useSuggestions } from "./useSuggestions.ts";

export interface QueryAidsHandle {
  /** Whether the key was meant for the list of suggestions. */
  readonly onKey: (event: KeyboardEvent<HTMLInputElement>) => boolean;
}

export interface QueryAidsProps {
  ref: Ref<QueryAidsHandle>;
  input: RefObject<HTMLInputElement | null>;
  listId: string;
  text: string;
  caret: number;
  /** Mistakes are told while the query is at hand; beside it the page says the first. */
  focused: boolean;
  /** What the person did last: only what is typed opens the list by itself. */
  opened: boolean;
  onOpened: (opened: boolean) => void;
  /** What the server said against this very text. */
  fault: ApiError | undefined;
  facets: readonly string[];
  history: readonly string[];
  onText: (text: string, caret: number) => void;
  onRun: (text: string) => void;
}

interface Option {
  readonly key: string;
  readonly shown: string;
  readonly detail: string | undefined;
  readonly from: number;
  readonly until: number;
  readonly insert: string;
  /** The letters that were typed already. */
  readonly typed: string;
}

const recents = 5;

/** Something of it was typed, and something is not. */
const begun = ({ typed, insert }: Option) => typed !== "" && insert !== typed;

/** A press in the list leaves the focus in the query. */
function keepsFocus(list: HTMLElement | null): (() => void) | undefined {
  if (!list) return undefined;
  const stay = (event: Event) => event.preventDefault();
  list.addEventListener("mousedown", stay);
  return () => list.removeEventListener("mousedown", stay);
}

/** The colours of the query and what may be written next: the part of the bar that comes when it is used. */
export function QueryAids({
  ref,
  input,
  listId,
  text,
  caret,
  focused,
  opened,
  onOpened,
  fault,
  facets,
  history,
  onText,
  onRun,
}: QueryAidsProps) {
  const paint = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(-1);
  const mistakes = useMistakes(text, fault);
  const whole = mended(text, mistakes);
  const completion = useSuggestions(text, caret, opened && mistakes.length === 0);
  const options = optionsOf(
    text,
    caret,
    opened ? completion : undefined,
    mistakes,
    text === "" ? history : [],
  );
  const visible = opened && options.length > 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text has other options
  useEffect(() => setActive(-1), [text, caret, opened]);

  useScroll(input, paint, text);
  useCombobox(input, listId, visible, visible && active >= 0 ? `${listId}-${active}` : undefined);
  useEffect(() => {
    if (active >= 0) document.getElementById(`${listId}-${active}`)?.scrollIntoView({ block: "nearest" });
  }, [active, listId]);

  const accept = (option: Option) => {
    const next = text.slice(0, option.from) + option.insert + text.slice(option.until);
    onText(next, option.from + option.insert.length);
    // Behind a field its values are next, and behind an operator what it joins.
    onOpened(/[:=<>( ]$/.test(option.insert));
  };
  const move = (by: 1 | -1) => {
    const count = options.length;
    // One place among them is that none is chosen.
    setActive(((active + 1 + by + count + 1) % (count + 1)) - 1);
  };
  const onKey = (event: KeyboardEvent<HTMLInputElement>): boolean => {
    if (event.nativeEvent.isComposing) return false;
    if (event.key === "Enter" && active < 0 && whole !== undefined) onRun(whole);
    else if ((event.key === " " && event.ctrlKey) || (event.key === "ArrowDown" && !visible)) onOpened(true);
    else if (!visible) return false;
    else return onListKey(event);
    return true;
  };
  const onListKey = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const chosen = options[active];
    const takes = key === "Enter" || (key === "Tab" && !shiftKey);
    const taken = takes ? (chosen ?? (key === "Tab" ? options.find(begun) : undefined)) : undefined;
    if (taken) accept(taken);
    else if (key === "ArrowDown") move(1);
    else if (key === "ArrowUp" && chosen) move(-1);
    else if (key === "Escape" && (chosen || text !== "")) onOpened(false);
    else return false;
    return true;
  };
  useImperativeHandle(ref, () => ({ onKey }));
  const shownMistakes = focused ? mistakes : [];
  const hinted =
    active >= 0 ? active : options.findIndex(({ typed, insert }) => typed !== "" && insert !== typed);
  return (
    <>
      <Paint ref={paint} text={text} facets={facets} mistakes={mistakes} />
      {(visible || shownMistakes.length > 0) && (
        <div
          ref={keepsFocus}
          data-mistakes={shownMistakes.length > 0 ? "" : undefined}
          className="absolute top-[calc(100%+4px)] left-0 z-40 w-full max-h-[min(50dvh,420px)] overflow-y-auto overscroll-contain rounded-3 bg-raised p-1 t-12 text-ink shadow-pop fade-in wide:w-150 wide:max-w-full"
        >
          {shownMistakes.map((mistake) => (
            <MistakeNote
              key={`${mistake.start} ${mistake.message}`}
              mistake={mistake}
              enters={whole !== undefined}
              onMend={(replacement) => {
                const { start, end } = mistake;
                if (mistakes.length === 1) onRun(text.slice(0, start) + replacement + text.slice(end));
                else onText(text.slice(0, start) + replacement + text.slice(end), start + replacement.length);
              }}
              onShow={() => input.current?.setSelectionRange(mistake.start, mistake.end)}
            />
          ))}
          {visible && (
            <div role="listbox" id={listId} aria-label="Suggestions">
              {options.map((option, index) => (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are the input's, which keeps the focus
                <div
                  key={option.key}
                  id={`${listId}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === active}
                  className="flex min-h-10 cursor-default items-center gap-2 rounded-2 px-2 hover:bg-hover aria-selected:bg-active aria-selected:inset-ring-1 aria-selected:inset-ring-focus wide:min-h-7"
                  onClick={() => accept(option)}
                >
                  <OptionText option={option} />
                  <span className="ml-auto flex flex-none items-center gap-2 pl-3 text-ink-3">
                    {option.detail && <Visible text={option.detail} />}
                    {index === hinted && (
                      <span className="max-wide:hidden">
                        <Kbd>Tab</Kbd>
                      </span>
                    )}
                  </span>
                </div>
              ))}
            </div>
          )}
        </div>
      )}
    </>
  );
}

/** What was typed of it stands out. */
function OptionText({ option }: { option: Option }) {
  const { shown, typed } = option;
  const at = typed === "" ? -1 : shown.toLowerCase().indexOf(typed.toLowerCase());
  if (at < 0)
    return (
      <span className="min-w-0 cut mono-12">
        <Visible text={shown} />
      </span>
    );
  return (
    <span className="min-w-0 cut mono-12">
      <Visible text={shown.slice(0, at)} />
      <b className="font-semibold text-accent">
        <Visible text={shown.slice(at, at + typed.length)} />
      </b>
      <Visible text={shown.slice(at + typed.length)} />
    </span>
  );
}

/** The mistakes, with what may have been meant by names of no field. */
function useMistakes(text: string, fault: ApiError | undefined): readonly Mistake[] {
  const mistakes = mistakesOf(text, fault);
  const called = useFieldsCalled(mistakes.flatMap((mistake) => nameOf(text, mistake) ?? []));
  return mistakes.map((mistake) => {
    const name = nameOf(text, mistake);
    const there = name === undefined ? undefined : called.get(name);
    if (name === undefined || !there) return mistake;
    const suggestions = meant(name, mistake, there);
    const [only] = suggestions;
    return { ...mistake, suggestions, replacement: suggestions.length === 1 ? only : undefined };
  });
}

function MistakeNote({
  mistake,
  enters,
  onMend,
  onShow,
}: {
  mistake: Mistake;
  /** Enter mends all there is. */
  enters: boolean;
  onMend: (replacement: string) => void;
  onShow: () => void;
}) {
  const { replacement } = mistake;
  return (
    <div className="flex items-start gap-2 px-2 py-1.5">
      <Icon name="alert" className="text-error" />
      <span className="min-w-0 flex-1 wrap-anywhere text-ink">
        <b className="font-semibold text-error">Character {mistake.position}:</b> {mistake.message}.{" "}
        {mistake.accepted && <span className="text-ink-2">Accepted: {mistake.accepted}.</span>}
      </span>
      {replacement !== undefined && (
        <button
          type="button"
          tabIndex={-1}
          className="flex flex-none items-center gap-1 rounded-1 font-medium text-accent hover:underline"
          title={`Write ${replacement} there`}
          onClick={() => onMend(replacement)}
        >
          Fix it
          {enters && (
            <span className="max-wide:hidden">
              <Kbd>Enter</Kbd>
            </span>
          )}
        </button>
      )}
      <button
        type="button"
        tabIndex={-1}
        className="flex-none rounded-1 text-ink-2 underline underline-offset-2 hover:text-ink"
        onClick={onShow}
      >
        Show
      </button>
    </div>
  );
}

function optionsOf(
  text: string,
  caret: number,
  completion: Completion | undefined,
  mistakes: readonly Mistake[],
  history: readonly string[],
): readonly Option[] {
  if (mistakes.length > 0) {
    return mistakes.flatMap(({ start, end, suggestions, replacement }) =>
      [...new Set([...(replacement === undefined ? [] : [replacement]), ...suggestions])].map((field) => ({
        key: `fix ${start} ${field}`,
        shown: field,
        detail: `instead of ${text.slice(start, end)}`,
        from: start,
        until: end,
        insert: field,
        typed: "",
      })),
    );
  }
  const recent = history.slice(0, recents).map((query) => ({
    key: `recent ${query}`,
    shown: query,
    detail: "recent",
    from: 0,
    until: text.length,
    insert: query,
    typed: "",
  }));
  const found = completion?.suggestions.map((suggestion, index) => ({
    key: `${suggestion.kind} ${suggestion.insert} ${index}`,
    shown: suggestion.text,
    detail: suggestion.detail ?? (suggestion.kind === "word" ? "word" : undefined),
    from: completion.from,
    until: completion.until,
    insert: suggestion.insert,
    typed: text.slice(completion.from, caret),
  }));
  return [...recent, ...(found ?? [])];
}

/** The colours move with the letters. */
function useScroll(
  input: RefObject<HTMLInputElement | null>,
  paint: RefObject<HTMLDivElement | null>,
  text: string,
) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text may have scrolled
  useLayoutEffect(() => {
    const field = input.current;
    if (!field) return;
    const follow = () => {
      if (paint.current) paint.current.scrollLeft = field.scrollLeft;
    };
    follow();
    field.addEventListener("scroll", follow, { passive: true });
    return () => field.removeEventListener("scroll", follow);
  }, [input, paint, text]);
}

/** What the input says about the list, as long as there is a list to say it of. */
function useCombobox(
  input: RefObject<HTMLInputElement | null>,
  listId: string,
  visible: boolean,
  option: string | undefined,
) {
  useLayoutEffect(() => {
    const field = input.current;
    if (!field) return;
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-expanded", String(visible));
    if (visible) field.setAttribute("aria-controls", listId);
    else field.removeAttribute("aria-controls");
    if (option) field.setAttribute("aria-activedescendant", option);
    else field.removeAttribute("aria-activedescendant");
  }, [input, listId, visible, option]);
}
