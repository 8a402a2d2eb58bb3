import type { ApiError } from "#/lib/http.ts";
import { Blank } from "#/ui/blank.tsx";

/** Shown where reads need a token that a browser cannot send by itself. */
export function NoSession({ error }: { error: ApiError }) {
  const missing = error.code === 403;
  return (
    <main className="grid flex-1 place-content-center">
      <Blank
        icon="lock"
        heading={missing ? "This token may not read events" : "Reads need an API token"}
        headingLevel="h1"
      >
        <p>
          This server answers reads only to tokens with the scope <code className="mono-12">events:read</code>
          . An operator makes one, and programs send it with each request:
        </p>
        <pre className="my-2 overflow-x-auto rounded-2 border border-line bg-surface p-3 text-left mono-12 text-ink">
          {`oriel token create --scope events:read --name NAME
curl -H "Authorization: Bearer orl_…" ${location.origin}/v1/events`}
        </pre>
        <p className="mono-11 text-ink-3">
          {error.status} · {error.reason || "no reason"} · request {error.requestId || "unknown"}
        </p>
      </Blank>
    </main>
  );
}
