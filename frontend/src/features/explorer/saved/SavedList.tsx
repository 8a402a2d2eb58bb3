import { useState } from "react";
import type { SavedSearch } from "#/api/oriel.gen.ts";
import { ApiError, codesOf } from "#/lib/http.ts";
import { Badge, Button, Note, Skeleton } from "#/ui/controls.tsx";
import { SearchInput } from "#/ui/field.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useSavedList } from "./queries.ts";

/** So many are found by eye. */
const few = 8;

/** The searches that can be opened: one's own first, then what others share. */
export function SavedList({
  current,
  onOpen,
}: {
  /** The name of the one that is open. */
  current: string | undefined;
  onOpen: (saved: SavedSearch) => void;
}) {
  const list = useSavedList();
  const [text, setText] = useState("");
  const all = list.data?.pages.flatMap(({ savedSearches }) => savedSearches) ?? [];
  const wanted = text.trim().toLowerCase();
  const found = all.filter(({ displayName }) => displayName.toLowerCase().includes(wanted));
  const groups = [
    { label: "Your searches", items: found.filter(({ own }) => own) },
    { label: "Shared with the team", items: found.filter(({ own }) => !own) },
  ].filter(({ items }) => items.length > 0);
  const { error } = list;
  return (
    <div className="grid gap-1">
      {(all.length > few || text !== "") && (
        <SearchInput
          label="Find a saved search"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      )}
      {error && (
        <Note
          look="error"
          fact={all.length > 0 ? "The list may be old." : "The saved searches could not be read."}
          codes={error instanceof ApiError ? codesOf(error) : undefined}
          actions={
            <Button size="small" icon="refresh" onClick={() => void list.refetch()}>
              Try again
            </Button>
          }
        >
          {error.message}
        </Note>
      )}
      <div className="max-h-72 min-h-14 overflow-y-auto overscroll-contain">
        {list.isPending && <Loading />}
        {list.isSuccess && all.length === 0 && (
          <p className="px-2 py-3 text-ink-2">
            Nothing is saved yet. Save this search and it is one click away, for you or for the team.
          </p>
        )}
        {all.length > 0 && found.length === 0 && (
          <p className="px-2 py-3 text-ink-2" role="status">
            No name has “{text.trim()}” in it.
          </p>
        )}
        {groups.map(({ label, items }) => (
          <section key={label} aria-label={label}>
            <h3 className="px-2 pt-2 pb-1 t-11 text-ink-3">{label}</h3>
            <ul>
              {items.map((saved) => (
                <li key={saved.name}>
                  <Entry saved={saved} current={saved.name === current} onOpen={() => onOpen(saved)} />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {list.hasNextPage && (
          <Button
            look="ghost"
            className="w-full justify-center"
            unavailable={list.isFetchingNextPage ? "More are being read." : undefined}
            onClick={() => void list.fetchNextPage()}
          >
            Show more
          </Button>
        )}
      </div>
    </div>
  );
}

function Loading() {
  return (
    <div role="status" aria-label="Reading the saved searches" className="grid gap-4 px-2 py-4">
      <Skeleton width="60%" />
      <Skeleton width="45%" />
      <Skeleton width="70%" />
    </div>
  );
}

function Entry({ saved, current, onOpen }: { saved: SavedSearch; current: boolean; onOpen: () => void }) {
  return (
    <button
      type="button"
      aria-current={current ? "true" : undefined}
      className="flex h-10 w-full cursor-default items-center gap-2 rounded-2 px-2 text-left hover:bg-hover wide:h-7"
      title={saved.params}
      onClick={onOpen}
    >
      <span className="min-w-0 cut">
        <Visible text={saved.displayName} />
      </span>
      <span className="ml-auto flex flex-none items-center gap-2 pl-2 t-11 text-ink-3">
        {saved.own ? saved.shared && <Badge look="outline">shared</Badge> : <Visible text={saved.owner} />}
        {current && <Icon name="check" className="text-accent" />}
      </span>
    </button>
  );
}
