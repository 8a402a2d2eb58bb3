import { underBase } from "#/lib/base.ts";
import type { ApiError } from "#/lib/http.ts";
import { codesOf } from "#/lib/http.ts";
import { Blank } from "#/ui/blank.tsx";

/** Shown where nobody can sign in: reads need a token that a browser cannot send by itself. */
export function NoSignIn({ error }: { error?: ApiError }) {
  const missing = error?.code === 403;
  return (
    <main className="grid min-h-0 flex-1 place-content-center overflow-auto">
      <Blank
        icon="lock"
        heading={missing ? "This token may not read events" : "Reads need an API token"}
        headingLevel="h1"
      >
        <p>
          Nobody signs in on this server: it answers reads only to tokens with the scope{" "}
          <code className="mono-12">events:read</code>. An operator makes one, and programs send it with each
          request:
        </p>
        <pre className="my-2 max-w-full overflow-x-auto rounded-2 border border-line bg-surface p-3 text-left mono-12 text-ink">
          {`oriel token create --scope events:read --name NAME
curl -H "Authorization: Bearer orl_…" ${location.origin}${underBase("/v1/events")}`}
        </pre>
        {error && <p className="mono-11 text-ink-3">{codesOf(error)}</p>}
      </Blank>
    </main>
  );
}
