/** What the Tokens page shows, as its URL says it. */
import type { ListTokensParams, TokenState } from "#/api/oriel.gen.ts";
import type { Params } from "#/lib/search.ts";

export const tokenStates: readonly TokenState[] = ["active", "expired", "revoked"];

export interface TokensView {
  readonly query: string;
  /** Any of these; none is all. */
  readonly states: readonly TokenState[];
  /** The form for a new token is open. */
  readonly making: boolean;
  /** The token whose revocation is asked for, by its number. */
  readonly revoking: string | undefined;
}

export function readTokensView(params: Params): TokensView {
  const revoking = params.revoke?.[0];
  return {
    query: searchable(params.q?.[0] ?? ""),
    states: tokenStates.filter((state) => params.state?.includes(state)),
    making: params.new !== undefined,
    revoking: revoking && /^[1-9]\d{0,18}$/.test(revoking) ? revoking : undefined,
  };
}

export function writeTokensView(view: TokensView, zone: readonly string[] | undefined): Params {
  return {
    ...(view.query !== "" && { q: [view.query] }),
    ...(view.states.length > 0 && { state: view.states }),
    ...(zone && { zone }),
    ...(view.making && { new: [""] }),
    ...(view.revoking && { revoke: [view.revoking] }),
  };
}

export function tokensParams({ query, states }: Pick<TokensView, "query" | "states">): ListTokensParams {
  const q = query.trim();
  return { ...(q !== "" && { q }), ...(states.length > 0 && { state: [...states] }) };
}

/**
 * What to find tokens by, of what was typed or pasted. Of a whole token only its prefix is taken: the
 * rest is secret, and must reach neither an address nor a request.
 */
export function searchable(text: string): string {
  return text
    .replace(/orl_([\w-]{8})[\w-]*/g, "$1")
    .replace(/^\s*orl_/, "")
    .replace(/\s*(?:…|\.{3})\s*$/, "");
}

/** The number in a token's name. */
export function numberOf(name: string): string {
  return name.replace(/^tokens\//, "");
}
