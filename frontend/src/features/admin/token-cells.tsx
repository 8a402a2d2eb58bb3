/** The pieces of a token's row, in a table as well as in stacked lines. */
import type { ReactNode } from "react";
import type { Token } from "#/api/oriel.gen.ts";
import { dateAndTime, fullDay, minutesAgo } from "#/lib/time.ts";
import { Badge } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { isPowerful } from "./scopes.ts";

/** The prefix as the token itself begins. */
export function prefixText({ prefix }: Token): string {
  return `orl_${prefix}…`;
}

export function Scopes({ token }: { token: Token }) {
  return (
    <span className="flex flex-wrap gap-1 py-1 min-[1180px]:flex-nowrap">
      {token.scopes.map((scope) => (
        <Badge key={scope} look={isPowerful(scope) ? "warning" : "plain"}>
          {scope}
        </Badge>
      ))}
    </span>
  );
}

export function Sources({ token: { scopes, sourcePrefixes } }: { token: Token }) {
  if (!scopes.includes("events:write")) return <span className="t-12 text-ink-3">cannot write</span>;
  if (!sourcePrefixes || sourcePrefixes.length === 0) return <span className="t-12">any source</span>;
  const all = sourcePrefixes.join(", ");
  return (
    <span title={all}>
      <Visible text={all} />
    </span>
  );
}

const soon = 14 * 86_400_000;

/** When it ends, or how it ended. */
export function Ends({ token, now }: { token: Token; now: number }) {
  const zone = useZone();
  const { state, expireTime, revokeTime, revokedBy } = token;
  if (state === "revoked") {
    return (
      <span className="text-ink-3" title={revokeTime && dateAndTime(revokeTime, zone, 0)}>
        revoked{revokeTime && ` ${fullDay(revokeTime, zone)}`}
        {revokedBy && (
          <>
            {" by "}
            <Visible text={revokedBy} />
          </>
        )}
      </span>
    );
  }
  if (!expireTime) return <span className="text-ink-2">never</span>;
  const whole = dateAndTime(expireTime, zone, 0);
  if (state === "expired") {
    return (
      <span className="text-ink-3" title={whole}>
        expired {fullDay(expireTime, zone)}
      </span>
    );
  }
  const ending = Date.parse(expireTime) - now < soon;
  return (
    <span className={ending ? "inline-flex items-center gap-1.5 text-warning" : ""} title={whole}>
      {ending && <Icon name="alert" small />}
      {fullDay(expireTime, zone)}
      {ending && <span className="sr-only">, soon</span>}
    </span>
  );
}

export function LastUsed({ token: { lastUseTime }, now }: { token: Token; now: number }) {
  const zone = useZone();
  if (!lastUseTime) return <span className="text-ink-3">never</span>;
  const old = now - Date.parse(lastUseTime) > 7 * 86_400_000;
  return (
    <span className="text-ink-2" title={`${dateAndTime(lastUseTime, zone, 0)}, to the minute`}>
      {old ? fullDay(lastUseTime, zone) : minutesAgo(lastUseTime, now)}
    </span>
  );
}

export function CreatedBy({ token: { createdBy, createTime } }: { token: Token }): ReactNode {
  const zone = useZone();
  return (
    <span className="text-ink-2" title={`Created ${dateAndTime(createTime, zone, 0)}`}>
      {createdBy ? <Visible text={createdBy} /> : <span className="text-ink-3">unknown</span>}
    </span>
  );
}
