import { ApiError } from "#/lib/http.ts";
import type { OpenEvent } from "#/lib/search.ts";
import { Button, Note } from "#/ui/controls.tsx";

export function EventFailed({
  open,
  error,
  onRetry,
}: {
  open: OpenEvent;
  error: Error;
  onRetry: () => void;
}) {
  const api = error instanceof ApiError ? error : undefined;
  const missing = api?.code === 404;
  const codes = api
    ? [api.status, api.reason, api.requestId && `request ${api.requestId}`].filter(Boolean).join(" · ")
    : error.name;
  return (
    <div className="p-4">
      <Note
        look="error"
        fact={missing ? "There is no such event." : "The event could not be read."}
        codes={codes}
        actions={
          !missing && (
            <Button size="small" icon="refresh" onClick={onRetry}>
              Try again
            </Button>
          )
        }
      >
        {missing ? "It may be older than the retention, or the address is not whole." : error.message}
        {missing && <span className="mt-1 block mono-11 text-ink-2 wrap-anywhere">{open.name}</span>}
      </Note>
    </div>
  );
}
