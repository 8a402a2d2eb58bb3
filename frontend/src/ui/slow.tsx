import { useEffect, useEffectEvent, useState } from "react";
import { Button, Kbd } from "./controls.tsx";

const patience = 1000;
const tick = 100;

/** Seconds since the mount, once it has been a while. */
function useElapsed(): number | undefined {
  const [elapsed, setElapsed] = useState<number>();
  useEffect(() => {
    const start = performance.now();
    const timer = setInterval(() => {
      const passed = performance.now() - start;
      if (passed >= patience) setElapsed(passed / 1000);
    }, tick);
    return () => clearInterval(timer);
  }, []);
  return elapsed;
}

/**
 * What stands where something is being read: after a second how long it has taken, and the way to
 * give up. The key of the element is what is read, as another reading starts its own clock.
 */
export function Slow({ word, onCancel }: { word: string; onCancel: () => void }) {
  const elapsed = useElapsed();
  const slow = elapsed !== undefined;
  const handle = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    if (event.target instanceof Element && event.target.closest("dialog, [popover]")) return;
    // Before the fields and the page, for which Escape means something else.
    event.preventDefault();
    event.stopPropagation();
    onCancel();
  });
  useEffect(() => {
    if (!slow) return;
    const listen = (event: KeyboardEvent) => handle(event);
    window.addEventListener("keydown", listen, { capture: true });
    return () => window.removeEventListener("keydown", listen, { capture: true });
  }, [slow]);
  if (!slow) return word;
  return (
    <span className="inline-flex items-center gap-2">
      {/* A reader of the screen hears that it reads, not every tenth of a second. */}
      <span className="sr-only">Reading</span>
      <span aria-hidden="true" className="t-12 font-normal text-ink-2">
        Reading… {elapsed.toFixed(1)} s
      </span>
      <Button look="ghost" size="small" onClick={onCancel} aria-label="Cancel reading">
        Cancel <Kbd>Esc</Kbd>
      </Button>
    </span>
  );
}
