import { type ReactNode, type RefObject, useEffect, useEffectEvent, useRef, useState } from "react";
import { asQuery, type Field, type Filter, negated } from "#/lib/search.ts";
import { Kbd } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Icon, type IconName } from "#/ui/icons.tsx";
import { Popover } from "#/ui/popover.tsx";
import { Visible } from "#/ui/visible.tsx";
import { FilterFormPart } from "../parts.ts";
import { nameOf, wordsOf } from "./words.ts";

export const chipClass =
  "inline-flex h-10 max-w-full flex-none items-center rounded-1 border bg-raised t-12 whitespace-nowrap wide:h-6 short:h-6 wide:flex-initial wide:min-w-0";

interface ChipAction {
  readonly label: string;
  readonly icon: IconName;
  /** As `event.key` has it, beside what the menu says. */
  readonly keys: readonly string[];
  readonly shown: string;
  readonly run: () => void;
}

function frame({ disabled }: Filter, strong: boolean): string {
  if (disabled) return "border-dashed border-line-3";
  return strong ? "border-error" : "border-line-2 hover:border-line-3";
}

/** One filter, with all that can be done with it. */
export function Chip({
  id,
  filter,
  facets,
  onChange,
}: {
  /** By which it is found again. */
  id: string;
  filter: Filter;
  facets: readonly Field[];
  onChange: (next: Filter | undefined) => void;
}) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const copy = useCopy();
  const words = wordsOf(filter);
  const name = nameOf(filter);
  const remove = () => {
    focusNext(box);
    onChange(undefined);
  };
  const turn = (part: Partial<Filter>) => onChange({ ...filter, ...part });
  const actions: readonly ChipAction[] = [
    { label: "Negate", icon: "minus", keys: ["n"], shown: "n", run: () => onChange(negated(filter)) },
    {
      label: filter.disabled ? "Enable" : "Disable",
      icon: "eyeOff",
      keys: [" "],
      shown: "Space",
      run: () => turn({ disabled: !filter.disabled }),
    },
    {
      label: filter.pinned ? "Unpin" : "Pin across searches",
      icon: "pin",
      keys: ["p"],
      shown: "p",
      run: () => turn({ pinned: !filter.pinned }),
    },
    {
      label: "Copy as query",
      icon: "copy",
      keys: ["c"],
      shown: "c",
      run: () => copy(asQuery(filter), "the filter"),
    },
    { label: "Remove", icon: "close", keys: ["Delete", "Backspace"], shown: "Del", run: remove },
  ];
  const act = (action: ChipAction) => {
    setOpen(false);
    action.run();
  };
  useKeysIn(box, (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    // Any other button is pressed by the space bar.
    if (event.key === " " && !isTrigger(event.target)) return;
    const action = actions.find(({ keys }) => keys.includes(event.key));
    if (action) {
      event.preventDefault();
      act(action);
    } else if (event.key === "ArrowDown" && !open) {
      event.preventDefault();
      setOpen(true);
    }
  });
  return (
    <span ref={box} data-chip={id} className={`${chipClass} ${frame(filter, words.strong)}`}>
      <Popover
        label={`Filter: ${words.field}`}
        open={open}
        onOpenChange={setOpen}
        trigger={{
          className:
            "-my-px flex h-10 min-w-0 items-center gap-1.25 pr-1 pl-2 wide:my-0 wide:h-full short:my-0 short:h-full",
          "aria-label": `Change filter: ${name}`,
          "aria-keyshortcuts": "n Space p c Delete",
          children: <ChipFace filter={filter} />,
        }}
      >
        <Actions actions={actions} onAct={act} />
        <FilterFormPart
          initial={filter}
          facets={facets}
          submit="Change"
          failed={() => <p className="p-2 text-error">The form could not be loaded.</p>}
          onSubmit={(next) => {
            setOpen(false);
            onChange(next);
          }}
        />
      </Popover>
      <RemoveButton name={name} onRemove={remove} />
    </span>
  );
}

function isTrigger(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.ariaHasPopup !== null;
}

/** Keys pressed within an element, whatever in it has the focus. */
function useKeysIn(element: RefObject<HTMLElement | null>, onKey: (event: KeyboardEvent) => void): void {
  const handle = useEffectEvent(onKey);
  useEffect(() => {
    const { current } = element;
    const listen = (event: KeyboardEvent) => handle(event);
    current?.addEventListener("keydown", listen);
    return () => current?.removeEventListener("keydown", listen);
  }, [element]);
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select");
}

function Actions({
  actions,
  onAct,
}: {
  actions: readonly ChipAction[];
  onAct: (action: ChipAction) => void;
}) {
  return (
    <ul aria-label="What to do with it" className="-mx-1 -mt-1 mb-2 border-b border-line pb-1">
      {actions.map((action, index) => (
        <li key={action.label}>
          <button
            type="button"
            data-autofocus={index === 0 ? "" : undefined}
            className="flex h-10 w-full items-center gap-2 rounded-2 px-2 text-left hover:bg-hover wide:h-7"
            onClick={() => onAct(action)}
          >
            <Icon name={action.icon} className="text-ink-3" />
            {action.label}
            <span className="ml-auto max-wide:hidden">
              <Kbd>{action.shown}</Kbd>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function ChipFace({ filter }: { filter: Filter }) {
  const { field, operator, values, joint, strong } = wordsOf(filter);
  const struck = filter.disabled ? "line-through" : "";
  return (
    <>
      {filter.disabled && <Icon name="eyeOff" small className="text-ink-2" />}
      {filter.pinned && <Icon name="pin" small className="text-accent" />}
      <span className={`max-w-60 cut text-ink-2 ${struck}`}>
        <Visible text={field} />
      </span>{" "}
      <span className={`${strong && !filter.disabled ? "font-semibold text-error" : "text-ink-3"} ${struck}`}>
        {operator}
      </span>{" "}
      {values.length > 0 && <ChipValues values={values} joint={joint} struck={struck} />}
    </>
  );
}

const shownValues = 2;

function ChipValues({ values, joint, struck }: { values: readonly string[]; joint: string; struck: string }) {
  return (
    <span className={`max-w-80 cut mono-12 text-ink ${struck}`}>
      {values.slice(0, shownValues).map((value, index) => (
        <span key={value}>
          {index > 0 && <span className="text-ink-3"> {joint} </span>}
          <Visible text={value} />
        </span>
      ))}
      {values.length > shownValues && <span className="text-ink-3"> +{values.length - shownValues}</span>}
    </span>
  );
}

/** What is removed hands the focus to the chip after it, and the last one to “Filter”. */
export function focusNext(chip: RefObject<Element | null>): void {
  const next = chip.current?.nextElementSibling;
  const target = next?.matches("button") ? next : next?.querySelector("button");
  if (target instanceof HTMLElement) target.focus();
}

export function RemoveButton({ name, onRemove }: { name: string; onRemove: () => void }) {
  return (
    <button
      type="button"
      className="-my-px grid size-10 flex-none place-items-center text-ink-3 hover:text-ink wide:size-6 short:size-6"
      aria-label={`Remove filter: ${name}`}
      title="Remove (Delete)"
      onClick={onRemove}
    >
      <Icon name="close" small />
    </button>
  );
}

/** A chip that says something about the search and can only be taken away. */
export function NoteChip({
  name,
  title,
  look,
  onRemove,
  children,
}: {
  name: string;
  title: string;
  look: "error" | "plain";
  onRemove: () => void;
  children: ReactNode;
}) {
  const box = useRef<HTMLSpanElement>(null);
  const remove = () => {
    focusNext(box);
    onRemove();
  };
  useKeysIn(box, (event) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    event.preventDefault();
    remove();
  });
  return (
    <span
      ref={box}
      title={title}
      className={`${chipClass} ${look === "error" ? "border-error bg-error-tint" : "border-line-2"}`}
    >
      <span className="flex min-w-0 items-center gap-1.25 pr-1 pl-2">{children}</span>
      <RemoveButton name={name} onRemove={remove} />
    </span>
  );
}
