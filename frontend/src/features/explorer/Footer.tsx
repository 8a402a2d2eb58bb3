import { timeOfDay } from "#/lib/time.ts";
import { Kbd } from "#/ui/controls.tsx";
import { useZone } from "#/ui/zone.tsx";
import type { Run } from "./useRun.ts";

const hints: readonly [string, readonly string[]][] = [
  ["move", ["j", "k"]],
  ["open", ["Enter"]],
  ["search", ["/"]],
  ["find", ["f"]],
  ["select", ["x"]],
  ["time", ["d"]],
  ["close", ["Esc"]],
  ["all keys", ["?"]],
];

export function Footer({ run }: { run: Run }) {
  const zone = useZone();
  return (
    <footer className="hidden h-6 flex-none items-center gap-3 overflow-hidden border-t border-line bg-surface px-3 t-11 whitespace-nowrap text-ink-3 wide:flex short:hidden wide:group-data-open:mr-(--drawer) dock:group-data-open:mr-0">
      {/* Those that have no room wrap below the line, out of sight. */}
      <span className="flex h-6 min-w-0 flex-1 flex-wrap gap-x-3 overflow-hidden">
        {hints.map(([what, keys]) => (
          <span key={what} className="inline-flex h-6 items-center gap-1">
            {keys.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
            {what}
          </span>
        ))}
      </span>
      {run.found && <span className="flex-none">Snapshot {timeOfDay(run.found.takenAt, zone)}</span>}
    </footer>
  );
}
