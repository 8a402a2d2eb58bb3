import { createFileRoute } from "@tanstack/react-router";
import { useCallback } from "react";
import { PagePartFailed, PartFailed } from "#/features/shell/Failed.tsx";
import { DrawerPart, EventPagePart, ExplorerPart } from "#/parts.ts";
import { Button } from "#/ui/controls.tsx";
import { whenIdle } from "#/ui/part.tsx";

export const Route = createFileRoute("/explore")({ component: Explore, loader: ExplorerPart.preload });

function Explore() {
  // What opens an event is fetched after the first rows, so that it is there when the server is not.
  const onRows = useCallback(
    () =>
      whenIdle(() => {
        DrawerPart.preload();
        EventPagePart.preload();
      }),
    [],
  );
  return (
    <ExplorerPart
      onRows={onRows}
      failed={PagePartFailed}
      detail={(props) => (
        <DrawerPart
          {...props}
          failed={(failure) => (
            <aside
              aria-label="Event"
              className="fixed inset-0 z-20 bg-raised wide:absolute wide:left-auto wide:w-(--drawer) wide:border-l wide:border-line-2 wide:shadow-drawer dock:static dock:shadow-none"
            >
              <PartFailed {...failure} />
              <div className="px-4">
                <Button onClick={props.onClose}>Close</Button>
              </div>
            </aside>
          )}
        />
      )}
    />
  );
}
