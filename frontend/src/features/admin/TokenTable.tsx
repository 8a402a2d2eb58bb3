import { useState } from "react";
import type { Token } from "#/api/oriel.gen.ts";
import { Button } from "#/ui/controls.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { CreatedBy, Ends, LastUsed, prefixText, Scopes, Sources } from "./token-cells.tsx";

interface Rows {
  readonly tokens: readonly Token[];
  /** The rows are those of an earlier search. */
  readonly outdated: boolean;
  /** Why the caller may not revoke. */
  readonly lack: string | undefined;
  readonly onRevoke: (token: Token) => void;
}

export function TokenTable(rows: Rows) {
  const narrow = useNarrow();
  return narrow ? <Stacked {...rows} /> : <Table {...rows} />;
}

const head = "h-7 border-b border-line px-2 text-left t-11 font-medium whitespace-nowrap text-ink-2";
const cell = "border-b border-line px-2 group-last:border-b-0";

function Table({ tokens, outdated, lack, onRevoke }: Rows) {
  const zone = useZone();
  const [now] = useState(Date.now);
  return (
    <div className="overflow-x-auto">
      <table aria-busy={outdated} className="w-full border-collapse t-12 aria-busy:text-ink-3">
        <thead>
          <tr>
            <th className={`${head} pl-4`}>Name</th>
            <th className={head}>Prefix</th>
            <th className={head}>Scopes</th>
            <th className={`${head} w-full`}>May write sources</th>
            <th className={head}>Expires, {zone}</th>
            <th className={head}>Last used</th>
            <th className={head}>Created by</th>
            <th className={`${head} pr-4`}>
              <span className="sr-only">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <tr key={token.name} className="group h-8 hover:bg-hover">
              <th
                scope="row"
                className={`${cell} min-w-32 pl-4 text-left font-semibold ${offInk(token)}`}
                title={token.displayName}
              >
                <span className="block max-w-64 cut">
                  <Visible text={token.displayName} />
                </span>
              </th>
              <td className={`${cell} mono-12 whitespace-nowrap text-ink-2`}>{prefixText(token)}</td>
              <td className={`${cell} min-w-40 min-[1180px]:whitespace-nowrap`}>
                <Scopes token={token} />
              </td>
              <td className={`${cell} max-w-0 cut mono-12 text-ink-2`}>
                <Sources token={token} />
              </td>
              <td className={`${cell} max-w-50 whitespace-nowrap`}>
                <span className="block cut">
                  <Ends token={token} now={now} />
                </span>
              </td>
              <td className={`${cell} whitespace-nowrap`}>
                <LastUsed token={token} now={now} />
              </td>
              <td className={`${cell} max-w-40 cut`}>
                <CreatedBy token={token} />
              </td>
              <td className={`${cell} pr-3 text-right`}>
                {token.state === "active" && (
                  <Button
                    size="small"
                    look="ghost"
                    className="hover:text-error"
                    aria-label={`Revoke ${token.displayName}`}
                    unavailable={lack}
                    onClick={() => onRevoke(token)}
                  >
                    Revoke
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const offInk = ({ state }: Token) => (state === "active" ? "" : "text-ink-3");

/** In one column each token is some lines. */
function Stacked({ tokens, outdated, lack, onRevoke }: Rows) {
  const [now] = useState(Date.now);
  return (
    <ul aria-busy={outdated} aria-label="Tokens" className="t-12 aria-busy:text-ink-3">
      {tokens.map((token) => (
        <li key={token.name} className="grid gap-1 border-b border-line px-4 py-3 last:border-b-0">
          <div className="flex items-baseline gap-2">
            <h3 className={`min-w-0 flex-1 t-13 font-semibold wrap-anywhere ${offInk(token)}`}>
              <Visible text={token.displayName} />
            </h3>
            <span className="mono-12 text-ink-2">{prefixText(token)}</span>
          </div>
          <Scopes token={token} />
          <p className="wrap-anywhere">
            <span className="text-ink-3">sources</span>{" "}
            <span className="mono-12 text-ink-2">
              <Sources token={token} />
            </span>
          </p>
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="flex-1 whitespace-nowrap">
              {token.state === "active" && <span className="text-ink-3">expires </span>}
              <Ends token={token} now={now} />
            </span>
            <span className="whitespace-nowrap">
              <span className="text-ink-3">used </span>
              <LastUsed token={token} now={now} />
            </span>
          </div>
          <div className="flex items-center gap-2">
            <span className="min-w-0 flex-1 cut">
              <span className="text-ink-3">by </span>
              <CreatedBy token={token} />
            </span>
            {token.state === "active" && (
              <Button
                className="text-error"
                aria-label={`Revoke ${token.displayName}`}
                unavailable={lack}
                onClick={() => onRevoke(token)}
              >
                Revoke
              </Button>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
