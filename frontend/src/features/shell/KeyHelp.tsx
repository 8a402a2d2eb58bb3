import { useRouterState } from "@tanstack/react-router";
import { useEffect, useId, useRef } from "react";
import { Button, Kbd } from "#/ui/controls.tsx";
import { useKeysSwitch } from "#/ui/keys.tsx";

interface Group {
  readonly name: string;
  readonly keys: readonly { readonly what: string; readonly keys: readonly string[] }[];
}

/** Of the search page. */
const groups: readonly Group[] = [
  {
    name: "Query and time",
    keys: [
      { what: "Search", keys: ["/"] },
      { what: "Run the query", keys: ["Enter"] },
      { what: "Take the suggestion", keys: ["Tab"] },
      { what: "Choose another", keys: ["↓", "↑"] },
      { what: "Show suggestions", keys: ["Ctrl Space"] },
      { what: "Earlier, later query", keys: ["↑", "↓"] },
      { what: "Take back, leave", keys: ["Esc"] },
      { what: "Time window", keys: ["d"] },
      { what: "New snapshot", keys: ["r"] },
    ],
  },
  {
    name: "Rows",
    keys: [
      { what: "Next, previous row", keys: ["j", "k"] },
      { what: "First, last row", keys: ["Home", "End"] },
      { what: "Previous, next cell", keys: ["←", "→"] },
      { what: "Open row", keys: ["Enter"] },
      { what: "Close event, find, selection", keys: ["Esc"] },
      { what: "Find in results", keys: ["f"] },
      { what: "Select to compare", keys: ["x", "Ctrl click"] },
      { what: "Compare the two selected", keys: ["="] },
      { what: "Include the cell's value", keys: ["+"] },
      { what: "Exclude it", keys: ["-"] },
      { what: "Only it", keys: ["o"] },
      { what: "Copy it", keys: ["c"] },
      { what: "Breakdown of its field", keys: ["b"] },
      { what: "Move its column", keys: ["Shift ←", "Shift →"] },
      { what: "Narrower, wider column", keys: ["<", ">"] },
      { what: "Remove its column", keys: ["Del"] },
    ],
  },
  {
    name: "The histogram",
    keys: [
      { what: "Previous, next bar", keys: ["←", "→"] },
      { what: "First, last bar", keys: ["Home", "End"] },
      { what: "Select the bar", keys: ["Space"] },
      { what: "Select bars", keys: ["Shift ←", "Shift →"] },
      { what: "Zoom into the bar or selection", keys: ["Enter"] },
      { what: "Zoom out", keys: ["-"] },
      { what: "Clear the selection", keys: ["Esc"] },
    ],
  },
  {
    name: "The values of a field",
    keys: [
      { what: "Next, previous value", keys: ["↓", "↑"] },
      { what: "Pick, leave alone", keys: ["Space"] },
      { what: "Include, exclude, only", keys: ["+", "-", "o"] },
      { what: "Copy the value", keys: ["c"] },
    ],
  },
  {
    name: "Find in results",
    keys: [
      { what: "Next match, or read on", keys: ["Enter"] },
      { what: "Previous match", keys: ["Shift Enter"] },
      { what: "Back to the rows", keys: ["Esc"] },
    ],
  },
  {
    name: "A filter that has the focus",
    keys: [
      { what: "Change", keys: ["Enter"] },
      { what: "Negate", keys: ["n"] },
      { what: "Disable, enable", keys: ["Space"] },
      { what: "Pin across searches", keys: ["p"] },
      { what: "Copy as query", keys: ["c"] },
      { what: "Remove", keys: ["Del"] },
      { what: "Add a filter, from anywhere", keys: ["Alt F"] },
    ],
  },
];

/** Wherever an event is open. */
const event: readonly Group[] = [
  {
    name: "An open event",
    keys: [
      { what: "Copy it as JSON", keys: ["Ctrl C"] },
      { what: "Another view of its data", keys: ["←", "→"] },
    ],
  },
  {
    name: "The tree of an event's data",
    keys: [
      { what: "Next, previous line", keys: ["↓", "↑"] },
      { what: "Open, close a part", keys: ["→", "←"] },
      { what: "All actions on a value", keys: ["Enter"] },
      { what: "Include, exclude, only", keys: ["+", "-", "o"] },
      { what: "Copy the value", keys: ["c"] },
    ],
  },
];

const everywhere: Group = { name: "Everywhere", keys: [{ what: "All keys", keys: ["?"] }] };

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const searching = path === "/explore";
  const withData = searching || path.startsWith("/events/");
  const shown = [...(searching ? groups : []), ...(withData ? event : []), everywhere];
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const { on, setOn } = useKeysSwitch();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      onClose={onClose}
      aria-labelledby={title}
      className="m-auto max-h-[calc(100dvh-32px)] w-160 max-w-[calc(100vw-32px)] rounded-4 bg-raised text-ink shadow-pop backdrop:bg-scrim"
    >
      <h2 id={title} className="px-5 pt-4 t-16">
        Keyboard
      </h2>
      <div className={`gap-x-8 px-5 py-3 t-12 ${searching ? "wide:columns-2" : ""}`}>
        {shown.map(({ name, keys }) => (
          <section key={name} aria-label={name} className="mb-3 break-inside-avoid">
            <h3 className="mb-1 font-semibold">{name}</h3>
            <dl>
              {keys.map((entry) => (
                <div key={entry.what} className="flex h-6 items-center gap-1">
                  <dt className="flex-1 text-ink-2">{entry.what}</dt>
                  {entry.keys.map((key) => (
                    <dd key={key}>
                      <Kbd>{key}</Kbd>
                    </dd>
                  ))}
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      {!withData && (
        <p className="px-5 pb-3 t-12 text-ink-3">This page has no keys of its own; the search has.</p>
      )}
      <footer className="flex items-center gap-2 border-t border-line px-5 py-3 t-12">
        <label className="flex flex-1 items-center gap-2 text-ink-2">
          <input
            type="checkbox"
            className="size-3.5 accent-accent-fill"
            checked={on}
            onChange={(event) => setOn(event.currentTarget.checked)}
          />
          Single letters are keys
        </label>
        <Button onClick={() => dialog.current?.close()}>Close</Button>
      </footer>
    </dialog>
  );
}
