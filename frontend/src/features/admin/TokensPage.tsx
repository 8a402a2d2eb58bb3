import { useCallback, useEffect, useMemo, useState } from "react";
import type { CreatedToken, Token } from "#/api/oriel.gen.ts";
import { useLack } from "#/ui/access.tsx";
import { Button, Skeleton } from "#/ui/controls.tsx";
import { SearchInput } from "#/ui/field.tsx";
import { useUrl } from "#/ui/url.ts";
import { AdminFrame, Panel } from "./AdminFrame.tsx";
import { ListError } from "./ListError.tsx";
import { NoTokens } from "./NoTokens.tsx";
import { RevokeDialog } from "./RevokeDialog.tsx";
import { StateFilter } from "./StateFilter.tsx";
import { TokenForm } from "./TokenForm.tsx";
import { TokenSecret } from "./TokenSecret.tsx";
import { TokenTable } from "./TokenTable.tsx";
import { type Tokens, useTokens } from "./tokens-query.ts";
import { numberOf, readTokensView, type TokensView, tokenStates, writeTokensView } from "./tokens-url.ts";

/** API tokens: who has one, what it may do, and making and ending them. */
export function TokensPage() {
  const { params, go } = useUrl();
  const view = useMemo(() => readTokensView(params), [params]);
  const show = useCallback(
    (next: Partial<TokensView>, options?: { replace?: boolean }) =>
      go(writeTokensView({ ...view, ...next }, params.zone), options),
    [go, view, params.zone],
  );
  const list = useTokens(view);
  const [made, setMade] = useState<readonly CreatedToken[]>([]);
  const lack = useLack("admin:write");
  const filtered = view.query.trim() !== "" || view.states.length > 0;
  const { tokens } = list;
  return (
    <AdminFrame page="Tokens">
      {made.map((created) => (
        <TokenSecret
          key={created.token.name}
          created={created}
          onDone={() => setMade(made.filter((other) => other !== created))}
        />
      ))}
      {view.making && lack === undefined && (
        <TokenForm
          onMade={(created) => {
            setMade([created, ...made]);
            show({ making: false }, { replace: true });
          }}
          onClose={() => show({ making: false }, { replace: true })}
        />
      )}
      <Panel
        heading="Tokens"
        count={countText(list)}
        tools={
          <>
            <span className="max-wide:order-2 max-wide:w-full">
              <StateFilter
                label="State"
                all={tokenStates}
                chosen={view.states}
                onChange={(states) => show({ states }, { replace: true })}
              />
            </span>
            <FindToken query={view.query} onQuery={(query) => show({ query }, { replace: true })} />
            <Button
              look="ghost"
              icon="refresh"
              aria-label="Read again"
              title="Read again"
              onClick={list.refresh}
            />
            <Button
              icon="plus"
              unavailable={lack ?? (view.making ? "Its form is open above." : undefined)}
              onClick={() => show({ making: true })}
            >
              New token
            </Button>
          </>
        }
      >
        {list.error && (
          <ListError
            fact="The tokens could not be read."
            error={list.error}
            stale={tokens !== undefined}
            onRetry={list.refresh}
          />
        )}
        {!tokens && !list.error && <LoadingTokens />}
        {tokens?.length === 0 && (
          <NoTokens filtered={filtered} onAll={() => show({ query: "", states: [] }, { replace: true })} />
        )}
        {tokens && tokens.length > 0 && (
          <TokenTable
            tokens={tokens}
            outdated={list.outdated}
            lack={lack}
            onRevoke={(token) => show({ revoking: numberOf(token.name) })}
          />
        )}
        {list.more && tokens && (
          <div className="flex items-center gap-3 border-t border-line px-4 py-2 t-12 text-ink-2">
            {tokens.length.toLocaleString("en")} of {list.total.toLocaleString("en")} are shown.
            <Button
              size="small"
              onClick={list.more}
              unavailable={list.loadingMore ? "They are being read." : undefined}
            >
              {list.loadingMore ? "Reading…" : "Show more"}
            </Button>
          </div>
        )}
      </Panel>
      {view.revoking && (
        <RevokeDialog
          key={view.revoking}
          number={view.revoking}
          token={tokens?.find(byNumber(view.revoking))}
          settled={tokens !== undefined && !list.outdated}
          onClose={() => show({ revoking: undefined }, { replace: true })}
        />
      )}
    </AdminFrame>
  );
}

function byNumber(number: string): (token: Token) => boolean {
  return ({ name }) => numberOf(name) === number;
}

function countText({ tokens, total, revoked, outdated, reading }: Tokens): string {
  if (!tokens) return reading ? "Reading…" : "";
  if (outdated) return "Searching…";
  return `${total.toLocaleString("en")}${revoked ? `, ${revoked.toLocaleString("en")} revoked` : ""}`;
}

const typingPause = 250;

/** What is typed is searched for once the typing pauses. */
function FindToken({ query, onQuery }: { query: string; onQuery: (query: string) => void }) {
  const [text, setText] = useState(query);
  const [applied, setApplied] = useState(query);
  if (query !== applied) {
    setApplied(query);
    setText(query);
  }
  useEffect(() => {
    if (text === applied) return;
    const timer = setTimeout(() => {
      setApplied(text);
      onQuery(text);
    }, typingPause);
    return () => clearTimeout(timer);
  }, [text, applied, onQuery]);
  return (
    <SearchInput
      label="Name or prefix"
      value={text}
      maxLength={200}
      className="max-wide:order-1 max-wide:w-full wide:w-50"
      onChange={(event) => setText(event.currentTarget.value)}
    />
  );
}

function LoadingTokens() {
  return (
    <div role="status" aria-label="Reading the tokens">
      {["62%", "48%", "70%", "55%", "66%", "44%"].map((width) => (
        <div
          key={width}
          className="grid h-24 grid-cols-[1fr_2fr] items-center gap-4 border-b border-line px-4 last:border-b-0 wide:h-8"
        >
          <Skeleton width={width} />
          <Skeleton width="80%" />
        </div>
      ))}
    </div>
  );
}
