/** What floats over the page and is opened by a button: menus and small forms. */
import {
  type ComponentProps,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useRef,
  useState,
} from "react";
import { Kbd } from "./controls.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { useFloating } from "./useFloating.ts";
import { Visible } from "./visible.tsx";

const popup =
  "fixed inset-auto m-0 max-h-[calc(100dvh-24px)] overflow-y-auto overscroll-contain rounded-3 bg-raised t-12 text-ink shadow-pop outline-none fade-in";

/** The button's own look and words; what it opens is added to it. */
export type Trigger = Omit<ComponentProps<"button">, "type" | "onClick" | "ref">;

export function Popover({
  trigger,
  label,
  open,
  onOpenChange,
  align = "start",
  children,
}: {
  trigger: Trigger;
  label: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  align?: "start" | "end";
  children: ReactNode;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  useFloating(button, box, open, align);
  useFocusBack(button, open);
  useEffect(() => {
    const node = box.current;
    if (!open || !node) return;
    const focus = () => {
      const wanted = node.querySelector<HTMLElement>("[data-autofocus]");
      (wanted ?? node).focus();
      return wanted !== null;
    };
    if (focus()) return;
    // The code of what is inside may come later than the box, which has the focus until then.
    const coming = new MutationObserver(() => {
      if (document.activeElement !== node || focus()) coming.disconnect();
    });
    coming.observe(node, { childList: true, subtree: true });
    return () => coming.disconnect();
  }, [open]);
  return (
    <>
      <TriggerButton {...trigger} ref={button} popup="dialog" open={open} onOpenChange={onOpenChange} />
      {open && (
        <div
          ref={box}
          popover="auto"
          role="dialog"
          aria-label={label}
          tabIndex={-1}
          className={`${popup} w-90 max-w-[calc(100vw-24px)] p-2`}
          onToggle={(event) => {
            if (event.newState === "closed") onOpenChange(false);
          }}
        >
          {children}
        </div>
      )}
    </>
  );
}

/** What closes with the focus in it gives it back, however it was closed. */
function useFocusBack(button: RefObject<HTMLElement | null>, open: boolean): void {
  useEffect(() => {
    if (!open) return;
    return () => {
      if (document.activeElement === document.body) button.current?.focus({ preventScroll: true });
    };
  }, [button, open]);
}

/**
 * A press on the button while its popup is open closes it: by the time of the click the browser has
 * closed it already, so the press is what counts.
 */
function TriggerButton({
  popup: kind,
  open,
  onOpenChange,
  ...rest
}: ComponentProps<"button"> & {
  popup: "dialog" | "menu";
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const wasOpen = useRef(false);
  return (
    <button
      {...rest}
      type="button"
      aria-haspopup={kind}
      aria-expanded={open}
      onPointerDown={() => {
        wasOpen.current = open;
      }}
      onClick={(event) => {
        const closing = event.detail > 0 && wasOpen.current;
        wasOpen.current = false;
        onOpenChange(closing ? false : !open);
      }}
    />
  );
}

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly hint?: string;
  readonly key?: string;
  /** Of a choice among several: whether it is the one that holds. */
  readonly checked?: boolean;
  readonly onSelect: () => void;
}

export function Menu({
  trigger,
  label,
  items,
  heading,
  align = "start",
}: {
  trigger: Trigger;
  label: string;
  /** Groups, with a rule between them. */
  items: readonly (readonly MenuItem[])[];
  heading?: ReactNode;
  align?: "start" | "end";
}) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const box = useRef<HTMLDivElement>(null);
  useFloating(button, box, open, align);
  useFocusBack(button, open);
  useEffect(() => {
    if (open) entries(box.current)[0]?.focus();
  }, [open]);
  return (
    <>
      <TriggerButton {...trigger} ref={button} popup="menu" open={open} onOpenChange={setOpen} />
      {open && (
        <div
          ref={box}
          popover="auto"
          role="menu"
          aria-label={label}
          tabIndex={-1}
          className={`${popup} min-w-58 max-w-[min(360px,calc(100vw-24px))] p-1`}
          onToggle={(event) => {
            if (event.newState === "closed") setOpen(false);
          }}
          onKeyDown={(event) => {
            if (event.key === "Tab") setOpen(false);
            else moveFocus(event);
          }}
        >
          {heading && (
            <div role="presentation" className="px-2 pt-1.5 pb-1 text-ink-3">
              {heading}
            </div>
          )}
          {items.map((group, index) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is no group of a menu
            <div
              key={group[0]?.label}
              role="group"
              className={index > 0 ? "mt-1 border-t border-line pt-1" : ""}
            >
              {group.map((item) => (
                <Entry
                  key={item.label}
                  item={item}
                  onSelect={() => {
                    setOpen(false);
                    item.onSelect();
                  }}
                />
              ))}
            </div>
          ))}
        </div>
      )}
    </>
  );
}

function Entry({ item, onSelect }: { item: MenuItem; onSelect: () => void }) {
  const role =
    item.checked === undefined
      ? { role: "menuitem" }
      : { role: "menuitemradio", "aria-checked": item.checked };
  return (
    <button
      type="button"
      {...role}
      tabIndex={-1}
      onClick={onSelect}
      onPointerEnter={(event) => event.currentTarget.focus({ preventScroll: true })}
      className="flex h-10 w-full cursor-default items-center gap-2 rounded-2 px-2 text-left outline-none focus:bg-hover focus-visible:inset-ring-1 focus-visible:inset-ring-focus wide:h-7"
    >
      {item.icon && <Icon name={item.icon} className="text-ink-3" />}
      <span className="cut">
        <Visible text={item.label} />
      </span>
      <span className="ml-auto flex items-center gap-2 pl-3 text-ink-3">
        {item.hint}
        {item.checked && <Icon name="check" className="text-accent" />}
        {item.key && <Kbd>{item.key}</Kbd>}
      </span>
    </button>
  );
}

function entries(menu: HTMLElement | null): HTMLElement[] {
  return menu ? [...menu.querySelectorAll<HTMLElement>("[role^=menuitem]")] : [];
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const all = entries(event.currentTarget);
  const at = all.indexOf(document.activeElement as HTMLElement);
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: (at + 1) % all.length,
    ArrowUp: (at - 1 + all.length) % all.length,
    Home: 0,
    End: all.length - 1,
  };
  const target = Object.hasOwn(targets, event.key) ? targets[event.key] : undefined;
  if (target === undefined) return;
  event.preventDefault();
  all[target]?.focus();
}
