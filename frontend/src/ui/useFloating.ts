import { type RefObject, useEffect, useLayoutEffect } from "react";

const gap = 4;
const margin = 12;

/** Puts `popup` below its trigger, above it where there is no room, and inside of the window. */
function place(trigger: Element, popup: HTMLElement, align: "start" | "end"): void {
  const box = trigger.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popup;
  const wanted = align === "start" ? box.left : box.right - width;
  const left = Math.max(margin, Math.min(wanted, window.innerWidth - width - margin));
  const fitsBelow = box.bottom + gap + height <= window.innerHeight - margin;
  const fitsAbove = box.top - gap - height >= margin;
  const below = Math.max(margin, Math.min(box.bottom + gap, window.innerHeight - height - margin));
  popup.style.left = `${left}px`;
  popup.style.top = `${fitsBelow || !fitsAbove ? below : box.top - gap - height}px`;
}

/**
 * Shows a `popover` element while `open`, anchored at its trigger. The browser closes it on Escape
 * and on a click beside it, and gives the focus back.
 */
export function useFloating(
  trigger: RefObject<HTMLElement | null>,
  popup: RefObject<HTMLElement | null>,
  open: boolean,
  align: "start" | "end",
): void {
  useLayoutEffect(() => {
    const element = popup.current;
    if (!element || !open) return;
    element.showPopover();
    if (trigger.current) place(trigger.current, element, align);
    return () => {
      if (element.matches(":popover-open")) element.hidePopover();
    };
  }, [open, align, trigger, popup]);
  useEffect(() => {
    if (!open) return;
    const again = () => {
      if (trigger.current && popup.current) place(trigger.current, popup.current, align);
    };
    const observer = new ResizeObserver(again);
    if (popup.current) observer.observe(popup.current);
    window.addEventListener("resize", again);
    window.addEventListener("scroll", again, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      window.removeEventListener("resize", again);
      window.removeEventListener("scroll", again, { capture: true });
    };
  }, [open, align, trigger, popup]);
}
