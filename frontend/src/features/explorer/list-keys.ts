import type { ValueAction } from "#/lib/search.ts";

/** What a key asks of the list; the page's own keys (j, k, x, f, Esc, …) are not among them. */
export type ListCommand =
  | { readonly do: "move"; readonly to: number }
  | { readonly do: "column"; readonly to: number | undefined }
  | { readonly do: "open" }
  | { readonly do: "act"; readonly action: ValueAction }
  | CellCommand;

/** What needs a cell. */
export type CellCommand =
  | { readonly do: "copy" }
  | { readonly do: "breakdown" }
  | { readonly do: "remove" }
  | { readonly do: "shift"; readonly by: 1 | -1 }
  | { readonly do: "widen"; readonly by: number };

interface Place {
  readonly cursor: number;
  readonly count: number;
  /** Rows that fit into the list. */
  readonly page: number;
  readonly column: number | undefined;
  readonly columns: number;
}

const actions: Readonly<Record<string, ValueAction>> = { "+": "include", "-": "exclude", o: "only" };
/** Pixels that a key makes a column wider. */
const widening = 24;

const cellKeys: Readonly<Record<string, CellCommand>> = {
  c: { do: "copy" },
  b: { do: "breakdown" },
  Delete: { do: "remove" },
  "<": { do: "widen", by: -widening },
  ">": { do: "widen", by: widening },
};

export function listCommand(key: string, place: Place, shift = false): ListCommand | undefined {
  const { cursor, count, page, column, columns } = place;
  switch (key) {
    case "ArrowDown":
      return { do: "move", to: cursor + 1 };
    case "ArrowUp":
      return { do: "move", to: cursor - 1 };
    case "PageDown":
      return { do: "move", to: cursor + page };
    case "PageUp":
      return { do: "move", to: cursor - page };
    case "Home":
      return { do: "move", to: 0 };
    case "End":
      return { do: "move", to: count - 1 };
    case "ArrowRight":
      if (shift) return { do: "shift", by: 1 };
      return { do: "column", to: Math.min((column ?? -1) + 1, columns - 1) };
    case "ArrowLeft":
      if (shift) return { do: "shift", by: -1 };
      return { do: "column", to: column === undefined || column === 0 ? undefined : column - 1 };
    case "Enter":
      return { do: "open" };
    default:
      if (Object.hasOwn(cellKeys, key)) return cellKeys[key];
      return Object.hasOwn(actions, key) ? { do: "act", action: actions[key] ?? "include" } : undefined;
  }
}
