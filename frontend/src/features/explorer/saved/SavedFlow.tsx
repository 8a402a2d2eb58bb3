import { useState } from "react";
import type { SavedSearch, UpdateSavedSearchRequest } from "#/api/oriel.gen.ts";
import type { Field, Search } from "#/lib/search.ts";
import { Dialog } from "#/ui/dialog.tsx";
import { isConflict, useChangeSaved, useSaved } from "./queries.ts";
import { DeleteDialog, NameDialog, RefusedDialog } from "./SavedDialog.tsx";
import { type SavedAct, SavedMenu } from "./SavedMenu.tsx";
import { isEdited, numberOf, openedText, openSaved, readOpened, toSave } from "./saved.ts";

type Asking = "name" | "rename" | "delete" | "refused";

/** Saved searches: the menu, and what is asked on the way. Of a page it changes the address alone. */
export function SavedFlow({
  search,
  facets,
  onSearch,
  onClose,
}: {
  search: Search;
  facets: readonly Field[];
  /** Shows a search; `replace` makes no step to go back to. */
  onSearch: (search: Search, options?: { replace: boolean }) => void;
  onClose: () => void;
}) {
  const opened = readOpened(search.saved);
  const saved = useSaved(opened).data;
  const change = useChangeSaved();
  const [asking, setAsking] = useState<Asking>();
  const ask = (next: Asking) => {
    change.reset();
    setAsking(next);
  };
  const keepOpen = (kept: SavedSearch) => {
    onSearch({ ...openSaved(kept, search, facets), open: search.open }, { replace: true });
    onClose();
  };
  /** What is on the page was saved: it stays as it is written. */
  const goOn = (kept: SavedSearch) => {
    onSearch({ ...search, saved: openedText(kept) }, { replace: true });
    onClose();
  };
  const update = (request: Omit<UpdateSavedSearchRequest, "version">, version: number) => {
    if (!opened) return;
    const number = opened.number;
    change.mutate(
      { kind: "update", number, request: { ...request, version } },
      {
        onSuccess: (kept) => {
          // A new name or sharing leaves the edits of the page as they are.
          if (kept) goOn(kept);
        },
        onError: () => setAsking((was) => (was === "rename" ? was : "refused")),
      },
    );
  };
  const seen = opened?.version ?? 0;
  const act = (kind: SavedAct) => {
    switch (kind) {
      case "save":
        return update(toSave(search), seen);
      case "share":
        return saved && update({ shared: !saved.shared }, seen);
      case "saveAs":
        return ask("name");
      case "rename":
        return ask("rename");
      case "delete":
        return ask("delete");
      case "revert":
        return saved && keepOpen(saved);
    }
  };
  const create = (displayName: string, shared: boolean) =>
    change.mutate(
      { kind: "create", request: { displayName, shared, ...toSave(search) } },
      { onSuccess: (kept) => kept && goOn(kept) },
    );
  const refused = change.variables;
  const again = () => {
    if (refused?.kind !== "update") return;
    const { version: _, ...request } = refused.request;
    update(request, isConflict(change.error) ? (saved?.version ?? seen) : seen);
  };
  const asked = { error: change.error, pending: change.isPending, onClose };

  if (asking === "name") {
    return (
      <NameDialog
        {...asked}
        renamed={false}
        initial={saved ? `${saved.displayName} (copy)` : ""}
        onSubmit={create}
        onEdit={change.reset}
      />
    );
  }
  if (asking === "rename" && saved) {
    return (
      <NameDialog
        {...asked}
        renamed
        initial={saved.displayName}
        onSubmit={(displayName) => update({ displayName }, saved.version)}
        onEdit={change.reset}
      />
    );
  }
  if (asking === "delete" && saved) {
    return (
      <DeleteDialog
        {...asked}
        saved={saved}
        onDelete={() =>
          change.mutate(
            { kind: "delete", number: numberOf(saved), version: saved.version },
            {
              onSuccess: () => {
                onSearch({ ...search, saved: undefined }, { replace: true });
                onClose();
              },
            },
          )
        }
      />
    );
  }
  if (asking === "refused" && change.error) {
    return (
      <RefusedDialog
        saved={saved}
        seen={seen}
        conflict={isConflict(change.error)}
        error={change.error}
        pending={change.isPending}
        onOverwrite={again}
        onOpenTheirs={() => saved && keepOpen(saved)}
        onSaveAs={() => ask("name")}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog heading="Saved searches" onClose={onClose}>
      {(close) => (
        <div className="pt-2 t-12">
          <SavedMenu
            saved={saved}
            edited={saved !== undefined && isEdited(search, saved, facets)}
            onOpen={(other) => {
              onSearch(openSaved(other, search, facets));
              onClose();
            }}
            onAct={act}
            onClose={close}
          />
        </div>
      )}
    </Dialog>
  );
}
