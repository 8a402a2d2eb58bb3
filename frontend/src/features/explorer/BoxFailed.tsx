import { ApiError, codesOf, mayHelp } from "#/lib/http.ts";
import { Button } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { type Box, needsSnapshot } from "./useBox.ts";

/** In the place of one box alone: what failed and why, and what may help. */
export function BoxFailed({
  what,
  box,
  error,
  onSnapshot,
}: {
  what: string;
  box: Pick<Box<unknown>, "again">;
  error: Error;
  onSnapshot: () => void;
}) {
  const codes = error instanceof ApiError ? codesOf(error) : error.name;
  return (
    <div role="alert" title={codes} className="flex items-start gap-2 t-12 text-ink">
      <Icon name="alert" className="text-error" />
      <span className="min-w-0 flex-1 wrap-anywhere">
        <b className="font-semibold">{what}</b> {error.message}{" "}
        {needsSnapshot(error) ? (
          <Button look="ghost" size="small" icon="refresh" className="wide:-my-1" onClick={onSnapshot}>
            New snapshot
          </Button>
        ) : (
          mayHelp(error) && (
            <Button look="ghost" size="small" icon="refresh" className="wide:-my-1" onClick={box.again}>
              Try again
            </Button>
          )
        )}
      </span>
    </div>
  );
}
