import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { CreatedToken, Token } from "#/api/oriel.gen.ts";
import { useLack } from "#/ui/access.tsx";
import { Button, Skeleton } from "#/ui/controls.tsx";
import { SearchInput } from "#/ui/field.tsx";
import { useNarrow } from "#/ui/narrow.ts";
import { useUrl } from "#/ui/url.ts";
import { AdminFrame, Panel } from "./AdminFrame.tsx";
import { LeaveSecret } from "./LeaveSecret.tsx";
import { ListError } from "./ListError.tsx";
import { NoTokens } from "./NoTokens.tsx";
import { RevokeDialog } from "./RevokeDialog.tsx";
import { StateFilter } from "./StateFilter.tsx";
import { TokenForm } from "./TokenForm.tsx";
import { TokenSecret } from "./TokenSecret.tsx";
import { rowOf, TokenSkeleton, TokenTable } from "./TokenTable.tsx";
import { type Tokens, useTokens } from "./tokens-query.ts";
import {
  numberOf,
  readTokensView,
  searchable,
  type TokensView,
  tokenStates,
  writeTokensView,
} from "./tokens-url.ts";

interface Made {
  readonly created: CreatedToken;
  readonly copied: boolean;
}

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
  const [made, setMade] = useState<readonly Made[]>([]);
  const lack = useLack("admin:write");
  const filtered = view.query.trim() !== "" || view.states.length > 0;
  const { tokens } = list;
  const search = useRef<HTMLInputElement>(null);
  const newToken = useRef<HTMLButtonElement>(null);
  const next = useFocusNext(tokens, search);
  const change = (created: CreatedToken, copied: boolean) =>
    setMade((all) => all.map((one) => (one.created === created ? { created, copied } : one)));
  return (
    <AdminFrame page="Tokens">
      <LeaveSecret uncopied={made.some(({ copied }) => !copied)} />
      {made.map(({ created, copied }, index) => (
        <TokenSecret
          key={created.token.name}
          created={created}
          primary={index === 0 && !copied && !view.making}
          onCopied={() => change(created, true)}
          onDone={() => {
            setMade(made.filter((other) => other.created !== created));
            newToken.current?.focus();
          }}
        />
      ))}
      {view.making && lack === undefined && (
        <TokenForm
          onMade={(created) => {
            setMade([{ created, copied: false }, ...made]);
            show({ making: false }, { replace: true });
          }}
          onClose={() => {
            show({ making: false }, { replace: true });
            newToken.current?.focus();
          }}
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
            <FindToken
              box={search}
              query={view.query}
              onQuery={(query) => show({ query }, { replace: true })}
            />
            <Button
              look="ghost"
              icon="refresh"
              aria-label="Read again"
              title="Read again"
              onClick={list.refresh}
            />
            <Button
              ref={newToken}
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
              onClick={() => {
                next.current = { after: tokens.length };
                list.more?.();
              }}
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
          onRevoked={(name) => {
            next.current = { revoked: name };
            // Its secret is of no more use.
            setMade((all) => all.filter(({ created }) => created.token.name !== name));
          }}
          onClose={() => show({ revoking: undefined }, { replace: true })}
        />
      )}
    </AdminFrame>
  );
}

/** Where the focus goes once the list has changed: to the row after so many, or to what was revoked. */
type FocusNext = { readonly after: number } | { readonly revoked: string };

function useFocusNext(
  tokens: readonly Token[] | undefined,
  search: RefObject<HTMLInputElement | null>,
): RefObject<FocusNext | undefined> {
  const next = useRef<FocusNext>(undefined);
  useEffect(() => {
    const wanted = next.current;
    if (!wanted || !tokens) return;
    if ("after" in wanted) {
      const first = tokens[wanted.after];
      if (!first) return;
      next.current = undefined;
      rowOf(first.name)?.focus();
      return;
    }
    // Until the list knows of it, its row has the button that was pressed.
    if (tokens.some(({ name, state }) => name === wanted.revoked && state === "active")) return;
    next.current = undefined;
    (rowOf(wanted.revoked) ?? search.current)?.focus();
  });
  return next;
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
const secretPattern = /orl_[\w-]{9}/;

/** What is typed is searched for once the typing pauses. */
function FindToken({
  box,
  query,
  onQuery,
}: {
  box: RefObject<HTMLInputElement | null>;
  query: string;
  onQuery: (query: string) => void;
}) {
  const [text, setText] = useState(query);
  const [applied, setApplied] = useState(query);
  if (query !== applied) {
    setApplied(query);
    setText(query);
  }
  const wanted = searchable(text);
  useEffect(() => {
    if (wanted === applied) return;
    const timer = setTimeout(() => {
      setApplied(wanted);
      onQuery(wanted);
    }, typingPause);
    return () => clearTimeout(timer);
  }, [wanted, applied, onQuery]);
  return (
    <SearchInput
      ref={box}
      label="Name or prefix"
      value={text}
      maxLength={200}
      className="max-wide:order-1 max-wide:w-full wide:w-50"
      onChange={(event) => {
        const typed = event.currentTarget.value;
        // The secret of a pasted token is not even shown.
        setText(secretPattern.test(typed) ? searchable(typed) : typed);
      }}
    />
  );
}

function LoadingTokens() {
  const narrow = useNarrow();
  const widths = ["62%", "48%", "70%", "55%", "66%", "44%"];
  if (!narrow) {
    return (
      <div role="status" aria-label="Reading the tokens">
        <TokenSkeleton widths={widths} />
      </div>
    );
  }
  return (
    <div role="status" aria-label="Reading the tokens">
      {widths.map((width) => (
        <div
          key={width}
          className="grid h-24 grid-cols-[1fr_2fr] items-center gap-4 border-b border-line px-4 last:border-b-0"
        >
          <Skeleton width={width} />
          <Skeleton width="80%" />
        </div>
      ))}
    </div>
  );
}
