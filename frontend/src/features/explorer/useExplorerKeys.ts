import { useKeys } from "#/ui/keys.tsx";

/** What the keys of the page do, wherever in it the focus is. */
export interface KeyActions {
  readonly again: () => void;
  readonly search: () => void;
  readonly time: () => void;
  readonly find: () => void;
  readonly compare: () => void;
  readonly select: () => void;
  readonly step: (by: 1 | -1) => void;
  readonly first: () => void;
  readonly last: () => void;
  /** Closes what lies open, one after another. */
  readonly leave: () => void;
}

export function useExplorerKeys(act: KeyActions): void {
  useKeys({
    "/": typed(act.search),
    d: typed(act.time),
    f: typed(act.find),
    r: () => act.again(),
    x: () => act.select(),
    "=": () => act.compare(),
    j: () => act.step(1),
    k: () => act.step(-1),
    // With the focus in the list these are its own.
    Home: fromBody(act.first),
    End: fromBody(act.last),
    ArrowDown: fromBody(() => act.step(1)),
    ArrowUp: fromBody(() => act.step(-1)),
    Escape: () => act.leave(),
  });
}

/** It opens a field, in which the key itself is not wanted. */
function typed(open: () => void) {
  return (event: KeyboardEvent) => {
    event.preventDefault();
    open();
  };
}

function fromBody(move: () => void) {
  return (event: KeyboardEvent) => {
    if (event.target !== document.body) return;
    event.preventDefault();
    move();
  };
}
