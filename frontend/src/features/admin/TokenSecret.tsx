import { useEffect, useRef } from "react";
import type { CreatedToken, Token } from "#/api/oriel.gen.ts";
import { fullDay } from "#/lib/time.ts";
import { Button } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { Prefixes } from "./token-cells.tsx";

/** The one time that a token is shown. It is in no storage, no address and no later answer. */
export function TokenSecret({
  created,
  primary,
  onCopied,
  onDone,
}: {
  created: CreatedToken;
  /** Copying it is what is to be done next on the page. */
  primary: boolean;
  onCopied: () => void;
  onDone: () => void;
}) {
  const copy = useCopy();
  const zone = useZone();
  const button = useRef<HTMLButtonElement>(null);
  const { token, secret } = created;
  useEffect(() => button.current?.focus(), []);
  return (
    <section aria-label="New token" className="flex gap-2 rounded-2 bg-accent-tint px-4 py-3 t-12 text-ink">
      <Icon name="key" className="text-accent" />
      <div className="min-w-0 flex-1">
        <b role="status" className="font-semibold wrap-anywhere">
          Token “<Visible text={token.displayName} />” created. Copy it now: it is shown this once.
        </b>
        <div className="my-2 flex flex-wrap items-stretch gap-2">
          <code
            onCopy={onCopied}
            className="flex min-h-11 min-w-0 items-center rounded-2 border border-line-3 bg-surface px-2 py-1 mono-12 break-all select-all max-wide:basis-full wide:min-h-7 wide:flex-1"
          >
            {secret}
          </code>
          <Button
            look={primary ? "primary" : "plain"}
            icon="copy"
            ref={button}
            onClick={() => copy(secret, "the token", onCopied)}
          >
            Copy
          </Button>
          <Button onClick={onDone}>Done</Button>
        </div>
        <p className="text-ink-2 wrap-anywhere">
          Stored only as a hash: it is gone when you leave this page. <Powers token={token} />,{" "}
          {token.expireTime ? `expires ${fullDay(token.expireTime, zone)}` : "never expires"}.
        </p>
      </div>
    </section>
  );
}

function Powers({ token: { scopes, sourcePrefixes } }: { token: Token }) {
  return (
    <>
      {scopes.length === 1 ? "Scope" : "Scopes"} <span className="mono-11">{scopes.join(", ")}</span>
      {sourcePrefixes && sourcePrefixes.length > 0 && (
        <>
          , sources that begin with <Prefixes prefixes={sourcePrefixes} />
        </>
      )}
    </>
  );
}
