import type { ValueAction } from "#/lib/search.ts";

/** What a key asks of the list; the page's own keys (j, k, Esc, …) are not among them. */
export type ListCommand =
  | { readonly do: "move"; readonly to: number }
  | { readonly do: "column"; readonly to: number | undefined }
  | { readonly do: "open" }
  | { readonly do: "copy" }
  | { readonly do: "act"; readonly action: ValueAction };

interface Place {
  readonly cursor: number;
  readonly count: number;
  /** Rows that fit into the list. */
  readonly page: number;
  readonly column: number | undefined;
  readonly columns: number;
}

const actions: Readonly<Record<string, ValueAction>> = { "+": "include", "-": "exclude", o: "only" };

export function listCommand(key: string, place: Place): ListCommand | undefined {
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
      return { do: "column", to: Math.min((column ?? -1) + 1, columns - 1) };
    case "ArrowLeft":
      return { do: "column", to: column === undefined || column === 0 ? undefined : column - 1 };
    case "Enter":
      return { do: "open" };
    case "c":
      return { do: "copy" };
    default:
      return Object.hasOwn(actions, key) ? { do: "act", action: actions[key] ?? "include" } : undefined;
  }
}
