import { ApiError, mayHelp } from "#/lib/http.ts";
import { Button } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";

/** The values of columns that were added could not be read; the rows are as they were. */
export function CellsFailed({ error, onAgain }: { error: Error; onAgain: () => void }) {
  const codes = error instanceof ApiError ? `${error.status} ${error.requestId}` : undefined;
  return (
    <span
      role="alert"
      title={codes}
      className="pointer-events-auto flex items-center gap-2 rounded-3 bg-raised py-1.5 pr-1.5 pl-3 t-12 shadow-pop"
    >
      <Icon name="alert" className="text-warning" />
      <span>
        <b className="font-semibold">Columns not read.</b> {error.message}
      </span>
      {mayHelp(error) && (
        <Button look="ghost" size="small" onClick={onAgain}>
          Try again
        </Button>
      )}
    </span>
  );
}
