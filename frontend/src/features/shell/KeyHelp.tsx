import { useRouterState } from "@tanstack/react-router";
import { useEffect, useId, useRef } from "react";
import { Button, Kbd } from "#/ui/controls.tsx";
import { useKeysSwitch } from "#/ui/keys.tsx";

/** Of the search page; the other pages have none of their own. */
const keys: readonly { what: string; keys: readonly string[] }[] = [
  { what: "Search", keys: ["/"] },
  { what: "Run the query", keys: ["Enter"] },
  { what: "Time window", keys: ["d"] },
  { what: "New snapshot", keys: ["r"] },
  { what: "Next, previous row", keys: ["j", "k"] },
  { what: "Previous, next cell", keys: ["←", "→"] },
  { what: "Open row", keys: ["Enter"] },
  { what: "Close event", keys: ["Esc"] },
  { what: "Include the cell's value", keys: ["+"] },
  { what: "Exclude it", keys: ["-"] },
  { what: "Only it", keys: ["o"] },
  { what: "Copy it", keys: ["c"] },
  { what: "First, last row", keys: ["Home", "End"] },
];

const everywhere: typeof keys = [{ what: "All keys", keys: ["?"] }];

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const searching = useRouterState({ select: ({ location }) => location.pathname === "/explore" });
  const shown = searching ? [...keys, ...everywhere] : everywhere;
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
      className="m-auto w-140 max-w-[calc(100vw-32px)] rounded-4 bg-raised text-ink shadow-pop backdrop:bg-scrim"
    >
      <h2 id={title} className="px-5 pt-4 t-16">
        Keyboard
      </h2>
      <dl className="grid gap-x-8 gap-y-1 px-5 py-3 t-12 wide:grid-cols-2">
        {shown.map((entry) => (
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
      {!searching && (
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
