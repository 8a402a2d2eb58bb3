import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useEffectEvent,
  useMemo,
  useState,
} from "react";
import { readSingleKeys, writeSingleKeys } from "#/lib/prefs.ts";

interface Keys {
  readonly on: boolean;
  readonly setOn: (on: boolean) => void;
}

const KeysContext = createContext<Keys>({ on: true, setOn: () => undefined });

/** Single keys can be switched off, for people whose speech input types them (WCAG 2.1.4). */
export function KeysProvider({ children }: { children: ReactNode }) {
  const [on, setState] = useState(readSingleKeys);
  const setOn = useCallback((next: boolean) => {
    writeSingleKeys(next);
    setState(next);
  }, []);
  const value = useMemo(() => ({ on, setOn }), [on, setOn]);
  return <KeysContext value={value}>{children}</KeysContext>;
}

export function useKeysSwitch(): Keys {
  return useContext(KeysContext);
}

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || target.matches("input, textarea, select");
}

/** Menus, dialogs and popovers have their own keys. */
function floating(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("dialog, [popover]") !== null;
}

export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/**
 * Keys of the page by `event.key`. They are quiet in text fields and in what floats, and the single
 * letters among them where they are switched off.
 */
export function useKeys(map: KeyMap): void {
  const { on } = useKeysSwitch();
  const handle = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target) || floating(event.target)) return;
    if (!on && event.key.length === 1) return;
    if (!Object.hasOwn(map, event.key)) return;
    map[event.key]?.(event);
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => handle(event);
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
