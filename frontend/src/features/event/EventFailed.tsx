import { ApiError } from "#/lib/http.ts";
import type { OpenEvent } from "#/lib/search.ts";
import { Button, Note } from "#/ui/controls.tsx";
import { Slow } from "#/ui/slow.tsx";
import { Visible } from "#/ui/visible.tsx";
import type { EventRead } from "./query.ts";

/** In the place of an event that was not read: why, and what can be done. */
export function EventFailed({ open, read }: { open: OpenEvent; read: EventRead }) {
  const { error, reading, retry, cancel } = read;
  if (!error) {
    return (
      <div className="p-4">
        <Note look="warning" fact="Reading the event was cancelled." actions={<Again onClick={retry} />} />
      </div>
    );
  }
  const api = error instanceof ApiError ? error : undefined;
  const missing = api?.code === 404;
  const refused = api !== undefined && api.code >= 400 && api.code < 500 && api.code !== 429;
  const parts = api && new Set([api.status, api.reason, api.requestId && `request ${api.requestId}`]);
  const codes = parts ? [...parts].filter(Boolean).join(" · ") : error.name;
  return (
    <div className="p-4">
      <Note
        look="error"
        fact={missing ? "There is no such event." : "The event could not be read."}
        codes={codes}
        actions={
          !refused && (reading ? <Slow word="Trying again…" onCancel={cancel} /> : <Again onClick={retry} />)
        }
      >
        {missing ? "It may be older than the retention, or the address is not whole." : error.message}
        {api?.transient && " It is asked again every few seconds."}
        {missing && (
          <span className="mt-1 block mono-11 text-ink-2 wrap-anywhere">
            <Visible text={open.name} />
          </span>
        )}
      </Note>
    </div>
  );
}

function Again({ onClick }: { onClick: () => void }) {
  return (
    <Button size="small" icon="refresh" onClick={onClick}>
      Try again
    </Button>
  );
}
