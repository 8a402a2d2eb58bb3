import { useMutation } from "@tanstack/react-query";
import { Fragment, type ReactNode, useRef, useState } from "react";
import { revokeToken, type Token } from "#/api/oriel.gen.ts";
import { ApiError, codesOf, plainly } from "#/lib/http.ts";
import { Button, Note } from "#/ui/controls.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { useDraft } from "#/ui/draft.ts";
import { Field, focusFault, inputClass } from "#/ui/field.tsx";
import { Visible } from "#/ui/visible.tsx";
import { CreatedBy, LastUsed, prefixText, Scopes } from "./token-cells.tsx";
import { useRefreshTokens } from "./tokens-query.ts";

interface Asked {
  readonly reason: string;
  /** What the token was called as the dialog opened: the list may not show it when it opens again. */
  readonly displayName: string;
}

function readAsked(stored: unknown): Asked | undefined {
  if (typeof stored !== "object" || stored === null) return undefined;
  const { reason, displayName } = stored as Readonly<Record<keyof Asked, unknown>>;
  return typeof reason === "string" && typeof displayName === "string" ? { reason, displayName } : undefined;
}

/** Asks before a token is ended, and for what reason. */
export function RevokeDialog({
  number,
  token,
  settled,
  onRevoked,
  onClose,
}: {
  /** The number in the token's name. */
  number: string;
  /** The token, where the list has it. */
  token: Token | undefined;
  /** The list has been read: what it has not is not there. */
  settled: boolean;
  onRevoked: (name: string) => void;
  onClose: () => void;
}) {
  const draft = useDraft(`revoke.${number}`, { reason: "", displayName: "" }, readAsked);
  const name = token?.displayName ?? draft.value.displayName;
  const leave = () => {
    draft.drop();
    onClose();
  };
  if (name === "" && !settled) return null;
  if (name === "" || (token && token.state !== "active")) {
    return <Nothing name={name} token={token} onClose={leave} />;
  }
  return (
    <Dialog
      alert
      heading={
        <>
          Revoke token “<Visible text={name} />
          ”?
        </>
      }
      onClose={leave}
    >
      {(close) => (
        <RevokeForm
          number={number}
          token={token}
          reason={draft.value.reason}
          onReason={(reason) => draft.set({ reason, displayName: name })}
          onDone={() => {
            onRevoked(`tokens/${number}`);
            close();
          }}
          onClose={close}
        />
      )}
    </Dialog>
  );
}

/** What tells it from another of the same name. */
function Facts({ token }: { token: Token }) {
  const [now] = useState(Date.now);
  const facts: readonly (readonly [string, ReactNode])[] = [
    [
      "prefix",
      <span key="prefix" className="mono-12">
        {prefixText(token)}
      </span>,
    ],
    ["scopes", <Scopes key="scopes" token={token} />],
    ["created by", <CreatedBy key="by" token={token} />],
    ["last used", <LastUsed key="used" token={token} now={now} />],
  ];
  return (
    <dl className="grid grid-cols-[80px_minmax(0,1fr)] items-center t-12">
      {facts.map(([name, value]) => (
        <Fragment key={name}>
          <dt className="text-ink-3">{name}</dt>
          <dd className="flex min-h-6 items-center wrap-anywhere">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

const longest = 500;

function RevokeForm({
  number,
  token,
  reason,
  onReason,
  onDone,
  onClose,
}: {
  number: string;
  token: Token | undefined;
  reason: string;
  onReason: (reason: string) => void;
  onDone: () => void;
  onClose: () => void;
}) {
  const form = useRef<HTMLFormElement>(null);
  const refresh = useRefreshTokens();
  const [tried, setTried] = useState(false);
  const revoke = useMutation({
    mutationFn: () => revokeToken(number, { reason: reason.trim() }),
    onSuccess: onDone,
    // Where no answer came it may be revoked all the same.
    onSettled: refresh,
  });
  const { error, isPending } = revoke;
  const plain = error ? plainly(error, "revoked") : null;
  const missing = reason.trim() === "" ? "A reason is missing: the audit record keeps it." : undefined;
  const said = error instanceof ApiError ? reasonFault(error) : undefined;
  const fault = (tried ? missing : undefined) ?? said;
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (missing === undefined) revoke.mutate();
        else requestAnimationFrame(() => focusFault(form.current));
      }}
    >
      <div className="grid gap-3 px-5 pt-2 pb-4 t-13 text-ink-2">
        {token && <Facts token={token} />}
        <p>Every replica refuses it within 2 s. This cannot be undone.</p>
        <Field label="Reason" fault={fault}>
          {(tied) => (
            <textarea
              {...tied}
              rows={2}
              required
              maxLength={longest}
              value={reason}
              className={`${inputClass(fault)} py-1.5`}
              onChange={(event) => {
                onReason(event.currentTarget.value);
                if (error) revoke.reset();
              }}
            />
          )}
        </Field>
        {error && said === undefined && (
          <Note
            look="error"
            fact={plain?.fact ?? "The token was not revoked."}
            codes={plain ? undefined : error instanceof ApiError ? codesOf(error) : error.name}
          >
            {plain?.text ?? error.message}
          </Note>
        )}
      </div>
      <DialogFooter>
        <Button onClick={onClose}>Keep it</Button>
        <Button type="submit" look="danger" unavailable={isPending ? "It is being revoked." : undefined}>
          Revoke token
        </Button>
      </DialogFooter>
    </form>
  );
}

/** What the server says against the reason. */
function reasonFault(error: ApiError): string | undefined {
  const said = error.details.find(({ metadata }) => metadata.attribute === "reason");
  return said && (said.message || error.message);
}

function Nothing({ name, token, onClose }: { name: string; token: Token | undefined; onClose: () => void }) {
  return (
    <Dialog
      heading={token ? "There is nothing to revoke" : "This token is not in the list"}
      onClose={onClose}
    >
      {(close) => (
        <>
          <p className="px-5 pt-2 pb-4 text-ink-2 wrap-anywhere">
            {token ? (
              <>
                “<Visible text={name} />” is {token.state} already.
              </>
            ) : (
              "It may be on a later page, or the filter hides it. Open it from its row."
            )}
          </p>
          <DialogFooter>
            <Button onClick={close}>Close</Button>
          </DialogFooter>
        </>
      )}
    </Dialog>
  );
}
