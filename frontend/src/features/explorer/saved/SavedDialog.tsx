import { type FormEvent, useRef, useState } from "react";
import type { SavedSearch } from "#/api/oriel.gen.ts";
import { ApiError, codesOf, plainly } from "#/lib/http.ts";
import { Button, Note } from "#/ui/controls.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { Field, focusFault, inputClass } from "#/ui/field.tsx";
import { Visible } from "#/ui/visible.tsx";

const longest = 200;

/** What the server said against a change, where it is not said at a field. */
export function ChangeFailed({ error, done }: { error: Error; done: string }) {
  const plain = plainly(error, done);
  return (
    <Note
      look="error"
      fact={plain?.fact ?? `The search was not ${done}.`}
      codes={plain ? undefined : error instanceof ApiError ? codesOf(error) : error.name}
    >
      {plain?.text ?? error.message}
    </Note>
  );
}

/** Asks for the name under which a search is kept. */
export function NameDialog({
  renamed,
  initial,
  error,
  pending,
  onSubmit,
  onEdit,
  onClose,
}: {
  /** It has one already; else also whether it is shared is asked. */
  renamed: boolean;
  initial: string;
  error: Error | null;
  pending: boolean;
  onSubmit: (name: string, shared: boolean) => void;
  /** What was said against it is not about this name. */
  onEdit: () => void;
  onClose: () => void;
}) {
  const form = useRef<HTMLFormElement>(null);
  const [name, setName] = useState(initial);
  const [shared, setShared] = useState(false);
  const [tried, setTried] = useState(false);
  const missing = name.trim() === "" ? "A name is missing." : undefined;
  const said =
    error instanceof ApiError
      ? error.details.find(({ metadata }) => metadata.attribute === "displayName")
      : undefined;
  const fault = (tried ? missing : undefined) ?? (said && (said.message || error?.message));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (missing === undefined) onSubmit(name.trim(), shared);
    else requestAnimationFrame(() => focusFault(form.current));
  };
  return (
    <Dialog heading={renamed ? "Rename the saved search" : "Save this search"} onClose={onClose}>
      {(close) => (
        <form ref={form} noValidate onSubmit={submit}>
          <div className="grid gap-3 px-5 pt-3 pb-4 t-13">
            <Field label="Name" fault={fault}>
              {(tied) => (
                <input
                  {...tied}
                  required
                  maxLength={longest}
                  value={name}
                  autoComplete="off"
                  className={`${inputClass(fault)} h-11 wide:h-8`}
                  onChange={(event) => {
                    setName(event.currentTarget.value);
                    onEdit();
                  }}
                />
              )}
            </Field>
            {!renamed && (
              <>
                <label className="flex min-h-10 items-center gap-2 t-12 wide:min-h-0">
                  <input
                    type="checkbox"
                    className="size-4 accent-accent-fill"
                    checked={shared}
                    onChange={(event) => setShared(event.currentTarget.checked)}
                  />
                  Share with the team: everybody here sees it
                </label>
                <p className="t-12 text-ink-3">
                  The query, the filters, the window as it is written, and the columns, density and split of
                  this page are kept. A relative window rolls on.
                </p>
              </>
            )}
            {error && !said && <ChangeFailed error={error} done={renamed ? "renamed" : "saved"} />}
          </div>
          <DialogFooter>
            <Button onClick={close}>Cancel</Button>
            <Button type="submit" look="primary" unavailable={pending ? "It is being saved." : undefined}>
              {renamed ? "Rename" : "Save"}
            </Button>
          </DialogFooter>
        </form>
      )}
    </Dialog>
  );
}

/** Asks before a saved search is gone. */
export function DeleteDialog({
  saved,
  error,
  pending,
  onDelete,
  onClose,
}: {
  saved: SavedSearch;
  error: Error | null;
  pending: boolean;
  onDelete: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog
      alert
      heading={
        <>
          Delete “<Visible text={saved.displayName} />
          ”?
        </>
      }
      onClose={onClose}
    >
      {(close) => (
        <>
          <div className="grid gap-3 px-5 pt-2 pb-4 t-13 text-ink-2">
            <p>
              {saved.shared ? "It is gone for everybody here." : "Only you see it."} What this page shows
              stays. This cannot be undone.
            </p>
            {error && <ChangeFailed error={error} done="deleted" />}
          </div>
          <DialogFooter>
            <Button onClick={close}>Keep it</Button>
            <Button
              look="danger"
              unavailable={pending ? "It is being deleted." : undefined}
              onClick={onDelete}
            >
              Delete
            </Button>
          </DialogFooter>
        </>
      )}
    </Dialog>
  );
}

/** A change that was refused, as others made one first or for another reason. */
export function RefusedDialog({
  saved,
  seen,
  conflict,
  error,
  pending,
  onOverwrite,
  onOpenTheirs,
  onSaveAs,
  onClose,
}: {
  saved: SavedSearch | undefined;
  /** The version that the page was opened with. */
  seen: number;
  conflict: boolean;
  error: Error;
  pending: boolean;
  onOverwrite: () => void;
  onOpenTheirs: () => void;
  onSaveAs: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog alert heading={conflict ? "Somebody changed it meanwhile" : "It was not saved"} onClose={onClose}>
      {(close) => (
        <>
          <div className="grid gap-3 px-5 pt-2 pb-4 t-13 text-ink-2">
            {conflict ? (
              <p>
                This page began with version {seen}
                {saved && saved.version !== seen && <>; it is at version {saved.version} now</>}. Nothing was
                saved, and what the page shows stays.
              </p>
            ) : (
              <ChangeFailed error={error} done="saved" />
            )}
            {conflict && error instanceof ApiError && <p className="mono-11 text-ink-3">{codesOf(error)}</p>}
          </div>
          <DialogFooter>
            <Button onClick={close}>Keep editing</Button>
            <Button onClick={onSaveAs}>Save as…</Button>
            {conflict && saved && <Button onClick={onOpenTheirs}>Open theirs</Button>}
            {(!conflict || saved) && (
              <Button
                look={conflict ? "danger" : "primary"}
                unavailable={pending ? "It is being saved." : undefined}
                onClick={onOverwrite}
              >
                {conflict ? "Save over it" : "Try again"}
              </Button>
            )}
          </DialogFooter>
        </>
      )}
    </Dialog>
  );
}
