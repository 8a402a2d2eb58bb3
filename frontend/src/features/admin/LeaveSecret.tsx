import { useBlocker } from "@tanstack/react-router";
import { Button } from "#/ui/controls.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { useShowsSecret } from "#/ui/shown-secret.ts";

const toOtherPage = ({ current, next }: { current: { pathname: string }; next: { pathname: string } }) =>
  current.pathname !== next.pathname;

/** Asks before a page is left that shows a secret nobody has copied. */
export function LeaveSecret({ uncopied }: { uncopied: boolean }) {
  useShowsSecret(uncopied);
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: toOtherPage,
    enableBeforeUnload: uncopied,
    disabled: !uncopied,
    withResolver: true,
  });
  if (status !== "blocked") return null;
  return (
    <Dialog alert heading="The token was not copied" onClose={reset}>
      {(close) => (
        <>
          <p className="px-5 pt-2 pb-4 text-ink-2">
            It is shown this once. If you leave, nobody has it, and it can only be revoked.
          </p>
          <DialogFooter>
            <Button onClick={close}>Stay</Button>
            <Button look="danger" onClick={proceed}>
              Leave without it
            </Button>
          </DialogFooter>
        </>
      )}
    </Dialog>
  );
}
