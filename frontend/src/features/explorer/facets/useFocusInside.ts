import { type RefObject, useEffect, useRef } from "react";

/** Takes the focus into what opens, and gives it back as that closes; to `lost` where its place is gone. */
export function useFocusInside(box: RefObject<HTMLElement | null>, lost: () => void): void {
  const opener = useRef<Element>(null);
  const elsewhere = useRef(lost);
  useEffect(() => {
    elsewhere.current = lost;
  });
  useEffect(() => {
    const active = document.activeElement;
    if (!box.current?.contains(active)) opener.current = active;
    box.current?.focus();
    return () => {
      // The page below is no longer inert, and what opened this is drawn anew, some frames later.
      const before = opener.current;
      let frames = 10;
      const giveBack = () => {
        if (document.activeElement !== document.body) return;
        if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus();
        else elsewhere.current();
        if (document.activeElement === document.body && --frames > 0) requestAnimationFrame(giveBack);
      };
      requestAnimationFrame(giveBack);
    };
  }, [box]);
}
