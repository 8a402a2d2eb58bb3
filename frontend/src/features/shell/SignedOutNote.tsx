import { useRouterState } from "@tanstack/react-router";
import type { Session } from "#/api/oriel.gen.ts";
import { here, signInUrl } from "#/lib/base.ts";
import { lengthText } from "#/lib/time.ts";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { Icon } from "#/ui/icons.tsx";
import { useSecretShown } from "#/ui/shown-secret.ts";

/** Over the page of someone whose session is over: the page and what was typed into it stay. */
export function SignedOutNote({ session, onStay }: { session: Session; onStay: () => void }) {
  const secret = useSecretShown();
  useRouterState({ select: ({ location }) => location.href });
  return (
    <Dialog
      alert
      unasked
      heading={
        <span className="flex gap-2">
          <Icon name="lock" className="mt-1 text-warning" />
          {whatHappened(session)}
        </span>
      }
      onClose={onStay}
    >
      {(close) => (
        <>
          <p className="px-5 pt-1 pb-4 text-ink-2">
            Sign in again to return here; what you typed is kept.
            {secret && <b className="font-semibold text-ink"> The token shown is lost when you sign in.</b>}
          </p>
          <DialogFooter>
            <Button onClick={close}>Stay on this page</Button>
            <a href={signInUrl(here())} className={buttonClass("primary")}>
              Sign in
            </a>
          </DialogFooter>
        </>
      )}
    </Dialog>
  );
}

/** Why it ended is known only of a session that had lasted as long as any may. */
function whatHappened({ createTime, expireTime }: Session): string {
  if (createTime === undefined || expireTime === undefined) return "You were signed out.";
  const start = Date.parse(createTime);
  const end = Date.parse(expireTime);
  return Date.now() < end || !(end > start)
    ? "You were signed out."
    : `You were signed out after ${lengthText(end - start)}.`;
}
