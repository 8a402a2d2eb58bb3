import { type RefObject, useEffect, useState } from "react";
import { type Field, fields } from "#/lib/search.ts";

export interface HoveredCell {
  readonly index: number;
  readonly field: Field;
}

/** The value that the pointer is on. One listener on the list, not one on each cell. */
export function useHoveredCell(list: RefObject<HTMLElement | null>): HoveredCell | undefined {
  const [cell, setCell] = useState<HoveredCell>();
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const over = (event: Event) => {
      // While a value's menu is open the pointer may cross other rows on its way there.
      if (!(event.target instanceof Element) || element.querySelector("[popover]:popover-open")) return;
      const field = event.target.closest("[data-field]")?.getAttribute("data-field");
      const index = event.target.closest("[data-index]")?.getAttribute("data-index");
      const known = fields.find((name) => name === field);
      setCell(known && index ? { index: Number(index), field: known } : undefined);
    };
    const leave = () => setCell(undefined);
    element.addEventListener("mouseover", over);
    element.addEventListener("mouseleave", leave);
    return () => {
      element.removeEventListener("mouseover", over);
      element.removeEventListener("mouseleave", leave);
    };
  }, [list]);
  return cell;
}
