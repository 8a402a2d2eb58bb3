import { useEffect, useEffectEvent } from "react";

/** Ctrl C, or ⌘ C, where it would copy nothing: no text is selected, and no field or popup has the focus. */
export function useCopyKey(copy: () => void): void {
  const handle = useEffectEvent((event: KeyboardEvent) => {
    const asked = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
    if (!asked || event.key.toLowerCase() !== "c" || event.defaultPrevented || event.repeat) return;
    const at = event.target;
    if (at instanceof Element && at.closest("input, textarea, select, dialog, [popover]")) return;
    if (getSelection()?.isCollapsed === false) return;
    event.preventDefault();
    copy();
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => handle(event);
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}
