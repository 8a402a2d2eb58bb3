import type { SavedSearch } from "#/api/oriel.gen.ts";
import { useCaller } from "#/ui/access.tsx";
import { Button } from "#/ui/controls.tsx";
import { SavedList } from "./SavedList.tsx";

export type SavedAct = "save" | "saveAs" | "rename" | "share" | "delete" | "revert";

/** What can be opened, and what can be done with the search that is open. */
export function SavedMenu({
  saved,
  edited,
  onOpen,
  onAct,
  onClose,
}: {
  saved: SavedSearch | undefined;
  edited: boolean;
  onOpen: (saved: SavedSearch) => void;
  onAct: (act: SavedAct) => void;
  onClose: () => void;
}) {
  const caller = useCaller();
  const admin = caller?.scopes.includes("admin:write") ?? false;
  const foreign =
    saved && !saved.own && !admin ? `${saved.owner} saved it. Save it as your own to change it.` : undefined;
  return (
    <div className="grid gap-2">
      <div className="px-3">
        <SavedList current={saved?.name} onOpen={onOpen} />
      </div>
      <div className="flex flex-wrap gap-2 border-t border-line px-5 py-3">
        {saved && (
          <Button
            look={edited && !foreign ? "primary" : "plain"}
            icon="save"
            unavailable={foreign ?? (edited ? undefined : "Nothing was changed since it was saved.")}
            onClick={() => onAct("save")}
          >
            Save
          </Button>
        )}
        <Button look={saved ? "plain" : "primary"} icon="plus" onClick={() => onAct("saveAs")}>
          {saved ? "Save as…" : "Save this search…"}
        </Button>
        {saved && edited && (
          <Button look="ghost" onClick={() => onAct("revert")}>
            Drop the edits
          </Button>
        )}
        {saved && (
          <>
            <Button look="ghost" unavailable={foreign} onClick={() => onAct("rename")}>
              Rename…
            </Button>
            <Button look="ghost" unavailable={foreign} onClick={() => onAct("share")}>
              {saved.shared ? "Stop sharing" : "Share with the team"}
            </Button>
            <Button
              look="ghost"
              className="text-error!"
              unavailable={foreign}
              onClick={() => onAct("delete")}
            >
              Delete…
            </Button>
          </>
        )}
        <Button className="ml-auto" onClick={onClose}>
          Close
        </Button>
      </div>
    </div>
  );
}
