import { type RefObject, useEffect } from "react";
import { copiedText } from "./selection.ts";

/** A selection is copied as the text that was received, not as it is broken into rows. */
export function useSourceCopy(
  scroller: RefObject<HTMLElement | null>,
  slice: ((from: number, to: number) => string) | undefined,
): void {
  useEffect(() => {
    const element = scroller.current;
    if (!element || !slice) return;
    const page = element.ownerDocument;
    // On the page, as a selection may begin and end outside of the rows.
    const onCopy = (event: ClipboardEvent) => {
      // A text field has a selection of its own.
      if (event.defaultPrevented || (event.target as Element | null)?.closest?.("input, textarea")) return;
      const text = copiedText(element, slice);
      if (text === undefined) return;
      event.clipboardData?.setData("text/plain", text);
      event.preventDefault();
    };
    page.addEventListener("copy", onCopy);
    return () => page.removeEventListener("copy", onCopy);
  }, [scroller, slice]);
}
