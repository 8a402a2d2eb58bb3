import { ApiError, codesOf, mayHelp } from "#/lib/http.ts";
import { Button, Note } from "#/ui/controls.tsx";

/** In its own box, in the place of what could not be read. */
export function ListError({
  fact,
  error,
  stale,
  onRetry,
}: {
  fact: string;
  error: Error;
  /** Rows of an earlier answer stand below. */
  stale: boolean;
  onRetry: () => void;
}) {
  // Over the page it is said what to do about it.
  if (stale && error instanceof ApiError && error.signedOut) return null;
  return (
    <div className="p-3">
      <Note
        look="error"
        fact={fact}
        codes={error instanceof ApiError ? codesOf(error) : error.name}
        actions={
          mayHelp(error) && (
            <Button size="small" icon="refresh" onClick={onRetry}>
              Try again
            </Button>
          )
        }
      >
        {error.message}
        {stale && " What was read before stays below."}
      </Note>
    </div>
  );
}
