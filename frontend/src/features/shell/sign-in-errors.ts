import type { Installation } from "#/api/oriel.gen.ts";

/** Why a sign-in did not come to an end, and what helps. */
export interface SignInError {
  readonly fact: string;
  readonly text: string;
  /** Reason and request id, as far as they are ones of ours: the address bar is anyone's to write. */
  readonly codes: string;
}

const asking = (installation: Installation | undefined) =>
  installation?.contact ? `ask ${installation.contact}` : "ask those who run this installation";

const texts: Readonly<Record<string, (provider: string, ask: string) => { fact: string; text: string }>> = {
  SIGN_IN_STATE: () => ({
    fact: "This sign-in could not be finished.",
    text: "It was begun in another browser or too long ago, or it was finished already. Sign in again from here.",
  }),
  SIGN_IN_REFUSED: (provider, ask) => ({
    fact: `${provider} did not let you in.`,
    text: `Nobody was signed in. Sign in again, as someone else perhaps, or ${ask}.`,
  }),
  SIGN_IN_REJECTED: (provider, ask) => ({
    fact: `What ${provider} sent does not hold.`,
    text: `Nobody was signed in. Sign in again; where it says the same, ${ask} and name the request.`,
  }),
  PROVIDER_UNAVAILABLE: (provider, ask) => ({
    fact: `${provider} does not answer.`,
    text: `Nobody can be signed in until it does. Try again in a minute, or ${ask}.`,
  }),
  RATE_LIMITED: () => ({
    fact: "Too many sign-ins came from your address.",
    text: "Nobody was signed in. Wait a minute, then sign in again.",
  }),
};

export function signInError(
  reason: string,
  request: string | undefined,
  installation: Installation | undefined,
): SignInError {
  const known = /^[A-Z][A-Z_]{0,39}$/.test(reason) ? reason : "";
  const id = request && /^req_[\w-]{1,64}$/.test(request) ? `request ${request}` : "";
  const provider = installation?.provider || "The identity provider";
  const say = Object.hasOwn(texts, known) ? texts[known] : undefined;
  const ask = asking(installation);
  const { fact, text } = say?.(provider, ask) ?? {
    fact: "The sign-in failed.",
    text: `Nobody was signed in. Sign in again; where it fails the same way, ${ask} and name the request.`,
  };
  return { fact, text, codes: [known, id].filter(Boolean).join(" · ") };
}
