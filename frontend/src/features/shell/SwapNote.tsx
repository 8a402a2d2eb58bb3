import { Button, Note } from "#/ui/controls.tsx";
import { Visible } from "#/ui/visible.tsx";
import type { SessionState } from "./useSessionWatch.ts";

/** Over the pages of someone who signed in, in another tab, while those of another were open here. */
export function SwapNote({ state: { session, swap, swapRead } }: { state: SessionState }) {
  if (!swap || !session) return null;
  return (
    <div role="alert" className="flex-none px-4 pt-3">
      <Note
        look="info"
        fact={
          <>
            You are now <Visible text={session.name} />.
          </>
        }
        actions={
          <Button size="small" onClick={swapRead}>
            Understood
          </Button>
        }
      >
        {swap.refused ? "Nothing was done." : "Another tab of this browser signed in."} What someone else
        typed here is kept for them alone.
      </Note>
    </div>
  );
}
