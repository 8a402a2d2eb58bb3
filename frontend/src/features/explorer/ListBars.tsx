import type { Ref } from "react";
import { Button } from "#/ui/controls.tsx";
import { CellsFailed } from "./CellsFailed.tsx";
import { FindBar } from "./FindBar.tsx";
import { PickedBar } from "./PickedBar.tsx";
import { DiffPart } from "./parts.ts";
import type { useCells } from "./useCells.ts";
import type { Find } from "./useFind.ts";
import type { Pair, Picked } from "./usePicked.ts";
import type { Run } from "./useRun.ts";

/** What floats over the end of the list: the selected events, columns that failed, and finding. */
export function ListBars({
  run,
  cells,
  picked,
  find,
  findBar,
  cursor,
  onGo,
  onCompare,
  onLeave,
}: {
  run: Run;
  cells: Pick<ReturnType<typeof useCells>, "error" | "again">;
  picked: Picked;
  find: Find;
  findBar: Ref<{ readonly focus: () => void }>;
  cursor: number;
  onGo: (index: number) => void;
  onCompare: () => void;
  onLeave: () => void;
}) {
  return (
    <div className="pointer-events-none absolute inset-x-3 bottom-2 z-20 flex flex-wrap items-end justify-between gap-2 wide:bottom-8 wide:group-data-open:mr-(--drawer) dock:group-data-open:mr-0">
      {picked.events.length > 0 && (
        <PickedBar
          picked={picked}
          onCompare={onCompare}
          onClear={() => {
            picked.clear();
            onLeave();
          }}
        />
      )}
      {cells.error && <CellsFailed error={cells.error} onAgain={cells.again} />}
      <span className="flex-1" />
      {find.text !== undefined && (
        <FindBar
          ref={findBar}
          find={find}
          run={run}
          cursor={cursor}
          onGo={onGo}
          onClose={() => {
            find.close();
            onLeave();
          }}
        />
      )}
    </div>
  );
}

/** The two events that are compared, where they are. */
export function CompareSlot({
  pair,
  onCopy,
  onClose,
}: {
  pair: Pair | undefined;
  onCopy: (text: string, what: string) => void;
  onClose: () => void;
}) {
  if (!pair) return null;
  return (
    <DiffPart
      pair={pair}
      onCopy={onCopy}
      onClose={onClose}
      failed={({ retry }) => (
        <p role="alert" className="fixed bottom-10 left-3 z-30 rounded-3 bg-raised p-3 t-12 shadow-pop">
          The code of the comparison did not come.{" "}
          <Button look="ghost" size="small" onClick={retry}>
            Try again
          </Button>
          <Button look="ghost" size="small" onClick={onClose}>
            Close
          </Button>
        </p>
      )}
    />
  );
}
