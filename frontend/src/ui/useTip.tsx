import {
  type FocusEvent,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useId,
  useRef,
  useState,
} from "react";
import { useFloating } from "./useFloating.ts";

/** What a control takes to have a tip. */
interface Tipped {
  readonly "aria-describedby"?: string;
  readonly onPointerEnter?: (event: PointerEvent<HTMLElement>) => void;
  readonly onPointerLeave?: () => void;
  readonly onFocus?: (event: FocusEvent<HTMLElement>) => void;
  readonly onBlur?: () => void;
  readonly onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void;
}

/**
 * A line beside a control, while it is pointed at or has the focus of the keyboard, and when a finger
 * taps it. Without a text there is none.
 */
export function useTip(text: string | undefined): {
  props: Tipped;
  tip: ReactNode;
  show: (control: HTMLElement) => void;
} {
  const id = useId();
  const control = useRef<HTMLElement>(null);
  const popup = useRef<HTMLSpanElement>(null);
  const [open, setOpen] = useState(false);
  const shown = open && text !== undefined;
  useFloating(control, popup, shown, "start");
  const show = (by: HTMLElement) => {
    control.current = by;
    setOpen(true);
  };
  if (text === undefined) return { props: {}, tip: null, show };
  const hide = () => setOpen(false);
  return {
    show,
    props: {
      "aria-describedby": id,
      onPointerEnter: (event) => show(event.currentTarget),
      onPointerLeave: hide,
      onFocus: (event) => {
        if (event.currentTarget.matches(":focus-visible")) show(event.currentTarget);
      },
      onBlur: hide,
      onKeyDown: (event) => {
        if (event.key !== "Escape" || !shown) return;
        event.stopPropagation();
        hide();
      },
    },
    tip: (
      <span
        ref={popup}
        id={id}
        role="tooltip"
        popover="manual"
        className="pointer-events-none fixed inset-auto m-0 max-w-70 rounded-2 bg-ink px-2 py-1 t-12 font-normal whitespace-normal text-bg"
      >
        {text}
      </span>
    ),
  };
}
