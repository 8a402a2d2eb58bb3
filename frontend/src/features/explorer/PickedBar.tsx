import { Button, Kbd } from "#/ui/controls.tsx";
import type { Picked } from "./usePicked.ts";

/** What is selected to be compared, and what to do with it. */
export function PickedBar({
  picked,
  onCompare,
  onClear,
}: {
  picked: Picked;
  onCompare: () => void;
  onClear: () => void;
}) {
  const two = picked.events.length === 2;
  return (
    <section
      aria-label="Selected events"
      className="pointer-events-auto flex max-w-full flex-wrap items-center gap-2 rounded-3 bg-raised py-1.5 pr-1.5 pl-3 t-12 shadow-pop fade-in"
    >
      <span role="status">
        {two ? (
          "2 events selected"
        ) : (
          <>
            1 event selected; select another with <Kbd>x</Kbd> or <Kbd>Ctrl</Kbd> click to compare
          </>
        )}
      </span>
      <Button
        look="primary"
        size="small"
        title="Compare (=)"
        unavailable={two ? undefined : "Two events are compared. Select another."}
        onClick={onCompare}
      >
        Compare
      </Button>
      <Button look="ghost" size="small" title="Clear (Esc)" onClick={onClear}>
        Clear
      </Button>
    </section>
  );
}
