import { type RefObject, useEffect, useState } from "react";
import type { Field } from "#/lib/search.ts";
import { isPlainColumn } from "./columns.ts";

export interface HoveredCell {
  readonly index: number;
  readonly field: Field;
}

/** How long the pointer rests before a value shows its actions: a quick click opens the row under it. */
const rest = 150;

/** The value that the pointer rests on. One listener on the list, not one on each cell. */
export function useHoveredCell(list: RefObject<HTMLElement | null>): HoveredCell | undefined {
  const [cell, setCell] = useState<HoveredCell>();
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = (event: Event) => {
      // While a value's menu is open the pointer may cross other rows on its way there.
      if (!(event.target instanceof Element) || element.querySelector("[popover]:popover-open")) return;
      const next = cellOf(event.target);
      clearTimeout(timer);
      if (next) timer = setTimeout(() => setCell(next), rest);
      setCell((shown) => (shown?.index === next?.index && shown?.field === next?.field ? shown : undefined));
    };
    const leave = () => {
      clearTimeout(timer);
      setCell(undefined);
    };
    element.addEventListener("mouseover", over);
    element.addEventListener("mouseleave", leave);
    return () => {
      clearTimeout(timer);
      element.removeEventListener("mouseover", over);
      element.removeEventListener("mouseleave", leave);
    };
  }, [list]);
  return cell;
}

function cellOf(target: Element): HoveredCell | undefined {
  const field = target.closest("[data-field]")?.getAttribute("data-field");
  const index = target.closest("[data-index]")?.getAttribute("data-index");
  return field && index && !isPlainColumn(field) ? { index: Number(index), field } : undefined;
}
