/** What can be done with the search as a whole: saved searches, sharing, export. */
import type { Count } from "#/api/oriel.gen.ts";
import type { Field, Search } from "#/lib/search.ts";
import { Badge, Button, buttonClass } from "#/ui/controls.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { Icon } from "#/ui/icons.tsx";
import type { FailedPart } from "#/ui/part.tsx";
import type { MenuItem } from "#/ui/popover.tsx";
import { Visible } from "#/ui/visible.tsx";
import { ExportPart, SavedPart, SharePart } from "./parts.ts";
import { isGone, useSaved } from "./saved/queries.ts";
import { isEdited, readOpened } from "./saved/saved.ts";
import type { Box } from "./useBox.ts";
import type { Run } from "./useRun.ts";

export type Panel = "saved" | "share" | "export";

/** In one column, where there is no room for buttons. */
export function panelItems(onPanel: (panel: Panel) => void): readonly MenuItem[] {
  return [
    { label: "Saved searches…", icon: "save", onSelect: () => onPanel("saved") },
    { label: "Share…", icon: "share", onSelect: () => onPanel("share") },
    { label: "Export…", icon: "download", onSelect: () => onPanel("export") },
  ];
}

export function SearchActions({
  search,
  facets,
  onPanel,
}: {
  search: Search;
  facets: readonly Field[];
  onPanel: (panel: Panel) => void;
}) {
  return (
    <div className="ml-2 flex flex-none items-center gap-1 max-wide:hidden">
      <SavedButton search={search} facets={facets} onClick={() => onPanel("saved")} />
      <Button look="ghost" size="small" icon="share" aria-haspopup="dialog" onClick={() => onPanel("share")}>
        Share
      </Button>
      <Button
        look="ghost"
        size="small"
        icon="download"
        aria-haspopup="dialog"
        onClick={() => onPanel("export")}
      >
        Export
      </Button>
    </div>
  );
}

/** Names the saved search that is open, and says what parts the page from it. */
function SavedButton({
  search,
  facets,
  onClick,
}: {
  search: Search;
  facets: readonly Field[];
  onClick: () => void;
}) {
  const opened = readOpened(search.saved);
  const { data: saved, error } = useSaved(opened);
  const edited = saved !== undefined && isEdited(search, saved, facets);
  const newer = saved !== undefined && opened !== undefined && saved.version > opened.version;
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      className={buttonClass("ghost", "small")}
      title={
        isGone(error)
          ? "The saved search was deleted, or is shared no longer. What the page shows stays."
          : "Open and save searches"
      }
      onClick={onClick}
    >
      <Icon name="save" className="-ml-0.5" />
      <span className="max-w-48 cut">
        {saved && opened ? <Visible text={saved.displayName} /> : opened && !error ? "Saved…" : "Saved"}
      </span>
      {edited && <Badge look="warning">edited</Badge>}
      {newer && <Badge title="Somebody saved it since this page opened it.">newer version</Badge>}
      {opened && isGone(error) && <Badge look="error">gone</Badge>}
      <Icon name="down" small />
    </button>
  );
}

export function SearchPanel({
  panel,
  search,
  facets,
  run,
  total,
  onSearch,
  onClose,
}: {
  panel: Panel | undefined;
  search: Search;
  facets: readonly Field[];
  run: Run;
  total: Box<Count>;
  onSearch: (search: Search, options?: { replace?: boolean }) => void;
  onClose: () => void;
}) {
  const failed = (failure: FailedPart) => <NoPanel {...failure} onClose={onClose} />;
  if (panel === "saved") {
    return (
      <SavedPart search={search} facets={facets} onSearch={onSearch} onClose={onClose} failed={failed} />
    );
  }
  if (panel === "share") return <SharePart search={search} run={run} onClose={onClose} failed={failed} />;
  if (panel === "export") {
    return <ExportPart search={search} run={run} total={total} onClose={onClose} failed={failed} />;
  }
  return null;
}

function NoPanel({ error, retry, onClose }: FailedPart & { onClose: () => void }) {
  return (
    <Dialog heading="This part could not be loaded" onClose={onClose}>
      {(close) => (
        <>
          <p className="px-5 pt-2 pb-4 t-13 text-ink-2 wrap-anywhere">
            The server does not answer, or a newer build took its place. {error.message}
          </p>
          <DialogFooter>
            <Button onClick={close}>Close</Button>
            <Button look="primary" icon="refresh" onClick={retry}>
              Try again
            </Button>
          </DialogFooter>
        </>
      )}
    </Dialog>
  );
}
