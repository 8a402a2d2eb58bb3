import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { useKeysSwitch } from "#/ui/keys.tsx";

/** Buckets from one to another, in the order in which they lie. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

export interface Brush {
  /** The bucket that the pointer or the keyboard is at. */
  readonly at: number | undefined;
  readonly range: Range | undefined;
  /** The pointer is held down and has moved. */
  readonly dragging: boolean;
  readonly clear: () => void;
  readonly handlers: {
    readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerUp: (event: PointerEvent<HTMLElement>) => void;
    readonly onPointerLeave: () => void;
    readonly onPointerCancel: () => void;
    readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
    readonly onFocus: (event: { currentTarget: HTMLElement }) => void;
    readonly onBlur: () => void;
    readonly onDoubleClick: () => void;
  };
}

/** A shorter way is a click. */
const slack = 4;

const order = (a: number, b: number): Range => ({ first: Math.min(a, b), last: Math.max(a, b) });

/**
 * Picks buckets: a click picks one, a drag zooms into many; arrows walk, with Shift they pick, Enter
 * zooms, - zooms out and Escape clears. `starts` are the instants at which the buckets begin: what is picked stays
 * picked by its time as the buckets change.
 */
export function useBrush({
  chart,
  starts,
  end,
  onZoom,
  onOut,
}: {
  chart: RefObject<HTMLElement | null>;
  starts: readonly number[];
  end: number;
  onZoom: (range: Range) => void;
  onOut: () => void;
}): Brush {
  const count = starts.length;
  const { on: singleKeys } = useKeysSwitch();
  const [picked, setPicked] = useState<{ from: number; until: number }>();
  const [at, setAt] = useState<number>();
  const [drag, setDrag] = useState<Range>();
  /** Where the pointer went down, or Shift was first held. */
  const anchor = useRef<{ index: number; x: number }>(undefined);

  const pick = ({ first, last }: Range) =>
    setPicked({ from: starts[first] ?? 0, until: starts[last + 1] ?? end });
  const clear = () => {
    setPicked(undefined);
    setDrag(undefined);
    anchor.current = undefined;
  };
  const range = drag ?? rangeOf(picked, starts, end);

  const indexAt = (x: number) => {
    const box = chart.current?.getBoundingClientRect();
    if (!box || box.width === 0) return 0;
    return Math.min(Math.max(Math.floor(((x - box.left) / box.width) * count), 0), count - 1);
  };

  // While a drag goes on, Escape takes it back wherever the focus is.
  const dragging = drag !== undefined;
  useEffect(() => {
    if (!dragging) return;
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation();
      anchor.current = undefined;
      setDrag(undefined);
    };
    window.addEventListener("keydown", listen, { capture: true });
    return () => window.removeEventListener("keydown", listen, { capture: true });
  }, [dragging]);

  const walk = (to: number, extend: boolean) => {
    const next = Math.min(Math.max(to, 0), count - 1);
    if (extend) {
      anchor.current ??= { index: at ?? next, x: 0 };
      pick(order(anchor.current.index, next));
    } else {
      anchor.current = undefined;
    }
    setAt(next);
  };

  return {
    at: at === undefined ? undefined : Math.min(at, count - 1),
    range,
    dragging,
    clear,
    handlers: {
      onPointerDown: (event) => {
        if (event.button !== 0 || !event.isPrimary || count === 0) return;
        anchor.current = { index: indexAt(event.clientX), x: event.clientX };
        if (event.pointerType === "mouse" || event.pointerType === "pen")
          event.currentTarget.setPointerCapture(event.pointerId);
      },
      onPointerMove: (event) => {
        const index = indexAt(event.clientX);
        setAt(index);
        const from = anchor.current;
        // A finger that moves scrolls the page.
        if (!from || event.pointerType === "touch" || event.buttons === 0) return;
        if (dragging || Math.abs(event.clientX - from.x) >= slack) setDrag(order(from.index, index));
      },
      onPointerUp: (event) => {
        const from = anchor.current;
        anchor.current = undefined;
        setDrag(undefined);
        if (!from) return;
        if (drag) {
          setPicked(undefined);
          onZoom(drag);
        } else if (Math.abs(event.clientX - from.x) < slack) {
          const again = range?.first === from.index && range.last === from.index;
          if (again) setPicked(undefined);
          else pick({ first: from.index, last: from.index });
        }
      },
      onPointerLeave: () => {
        if (!anchor.current) setAt(undefined);
      },
      onPointerCancel: () => {
        anchor.current = undefined;
        setDrag(undefined);
      },
      onKeyDown: (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return;
        const here = at ?? count - 1;
        const page = Math.max(Math.round(count / 6), 1);
        const targets: Readonly<Record<string, number>> = {
          ArrowLeft: here - 1,
          ArrowRight: here + 1,
          PageUp: here - page,
          PageDown: here + page,
          Home: 0,
          End: count - 1,
        };
        const target = Object.hasOwn(targets, event.key) ? targets[event.key] : undefined;
        if (target !== undefined) walk(target, event.shiftKey);
        else if (event.key === "Enter") zoomKey();
        else if (event.key === "-" && singleKeys) {
          clear();
          onOut();
        } else if (event.key === " ") pick({ first: here, last: here });
        else if (event.key === "Escape" && range) clear();
        else return;
        event.preventDefault();
        event.stopPropagation();
        function zoomKey() {
          onZoom(range ?? { first: here, last: here });
          clear();
        }
      },
      onFocus: (event) => {
        if (event.currentTarget.matches(":focus-visible")) setAt((now) => now ?? count - 1);
      },
      onBlur: () => setAt(undefined),
      onDoubleClick: () => {
        clear();
        onOut();
      },
    },
  };
}

/** The buckets that a time picked earlier lies in, as far as they are still shown. */
export function rangeOf(
  picked: { from: number; until: number } | undefined,
  starts: readonly number[],
  end: number,
): Range | undefined {
  if (!picked || starts.length === 0 || picked.until <= (starts[0] ?? 0) || picked.from >= end)
    return undefined;
  const first = Math.max(
    starts.findLastIndex((start) => start <= picked.from),
    0,
  );
  const last = starts.findLastIndex((start) => start < picked.until);
  return { first, last: Math.max(last, first) };
}
