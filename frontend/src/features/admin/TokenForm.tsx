import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { type CreatedToken, type CreateTokenRequest, createToken } from "#/api/oriel.gen.ts";
import { ApiError, codesOf, plainly } from "#/lib/http.ts";
import { dateAndTime } from "#/lib/time.ts";
import { Badge, Button, Note, Segments } from "#/ui/controls.tsx";
import { useDraft } from "#/ui/draft.ts";
import { Field, FieldSet, focusFault, inputClass } from "#/ui/field.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { scopes } from "./scopes.ts";
import { Prefixes, prefixText } from "./token-cells.tsx";
import {
  type Expiry,
  emptyDraft,
  expireTimeOf,
  type Faults,
  faultsFrom,
  faultsOf,
  lastDay,
  prefixesOf,
  readTokenDraft,
  requestOf,
  type TokenDraft,
  type TokenField,
  writes,
} from "./token-form.ts";
import { useRefreshTokens, useSameName } from "./tokens-query.ts";

const expiryWords: readonly { value: Expiry; label: string }[] = [
  { value: "30d", label: "30 days" },
  { value: "90d", label: "90 days" },
  { value: "365d", label: "1 year" },
  { value: "date", label: "Last day" },
  { value: "never", label: "Never" },
];

/** Asks for a new token. All that is wrong is said at once, beside what it is wrong with. */
export function TokenForm({
  onMade,
  onClose,
}: {
  onMade: (created: CreatedToken) => void;
  onClose: () => void;
}) {
  const draft = useDraft("token", emptyDraft, readTokenDraft);
  const zone = useZone();
  const refresh = useRefreshTokens();
  const form = useRef<HTMLFormElement>(null);
  const [tried, setTried] = useState(false);
  const [appeared, setAppeared] = useState(false);
  const [now, setNow] = useState(Date.now);
  const make = useMutation({
    mutationFn: (token: CreateTokenRequest) => createToken(token),
    onSuccess: (created) => {
      draft.drop();
      onMade(created);
    },
    // Where no answer came it may have been made all the same.
    onSettled: refresh,
  });
  const { error, isPending, reset } = make;
  const said = error instanceof ApiError ? faultsFrom(error) : undefined;
  const { expireTime, ...others } = tried ? faultsOf(draft.value, zone, now) : {};
  const faults: Faults = {
    ...said?.faults,
    ...others,
    // A field that has only just appeared is not wrong yet.
    ...(expireTime !== undefined && !appeared && { expireTime }),
  };
  const change = (next: Partial<TokenDraft>) => {
    if (error) reset();
    if (next.expiry !== undefined) setAppeared(next.expiry === "date" && draft.value.date === "");
    if (next.date !== undefined) setAppeared(false);
    draft.set({ ...draft.value, ...next });
  };

  // Where the focus is once the faults are on the page.
  const refused = said !== undefined;
  useEffect(() => {
    if (refused) focusFault(form.current);
  }, [refused]);
  useEffect(() => form.current?.querySelector<HTMLElement>("input")?.focus(), []);

  return (
    <form
      ref={form}
      noValidate
      aria-label="New token"
      className="rounded-3 border border-line bg-surface"
      onSubmit={(event) => {
        event.preventDefault();
        const at = Date.now();
        setNow(at);
        setTried(true);
        setAppeared(false);
        if (Object.keys(faultsOf(draft.value, zone, at)).length === 0) {
          make.mutate(requestOf(draft.value, zone, at));
        } else requestAnimationFrame(() => focusFault(form.current));
      }}
    >
      <h2 className="flex min-h-10 items-center border-b border-line px-4 t-13 font-semibold">New token</h2>
      <div className="grid gap-x-8 gap-y-4 px-4 py-3 wide:grid-cols-2">
        <Name draft={draft.value} faults={faults} change={change} />
        <Reason draft={draft.value} faults={faults} change={change} />
        <ScopeChoice draft={draft.value} faults={faults} change={change} />
        <div className="grid content-start gap-4">
          <ExpiryChoice draft={draft.value} faults={faults} change={change} now={now} zone={zone} />
          <SourcePrefixes draft={draft.value} faults={faults} change={change} />
        </div>
        {error && (!said || said.rest.length > 0 || Object.keys(said.faults).length === 0) && (
          <div className="wide:col-span-2">
            <MakeFailed error={error} rest={said?.rest ?? []} />
          </div>
        )}
      </div>
      <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-4 py-3">
        <p className="min-w-0 flex-1 t-12 text-ink-3 max-wide:basis-full">
          The token is shown once, after this.
        </p>
        <Button
          onClick={() => {
            draft.drop();
            onClose();
          }}
        >
          Cancel
        </Button>
        <Button type="submit" look="primary" unavailable={isPending ? "It is being made." : undefined}>
          {isPending ? "Making…" : "Make token"}
        </Button>
      </footer>
    </form>
  );
}

interface Part {
  readonly draft: TokenDraft;
  readonly faults: Faults;
  readonly change: (next: Partial<TokenDraft>) => void;
}

function Name({ draft, faults, change }: Part) {
  const [left, setLeft] = useState("");
  const same = useSameName(left === draft.displayName.trim() ? left : "");
  return (
    <Text
      field="displayName"
      faults={faults}
      label="Name"
      hint={
        same ? (
          <span role="status" className="text-warning">
            An active token has this name: {prefixText(same)}
            {same.createdBy && (
              <>
                {" by "}
                <Visible text={same.createdBy} />
              </>
            )}
            . The new one will be another.
          </span>
        ) : (
          "What the token is for, such as valve-controller."
        )
      }
      value={draft.displayName}
      onText={(displayName) => change({ displayName })}
      onLeave={() => setLeft(draft.displayName.trim())}
    />
  );
}

function Reason({ draft, faults, change }: Part) {
  return (
    <Text
      field="reason"
      faults={faults}
      label="Reason"
      hint="Why it is made now. The audit record keeps it."
      value={draft.reason}
      onText={(reason) => change({ reason })}
    />
  );
}

function Text({
  field,
  faults,
  label,
  hint,
  value,
  onText,
  onLeave,
}: {
  field: TokenField;
  faults: Faults;
  label: string;
  hint: ReactNode;
  value: string;
  onText: (text: string) => void;
  onLeave?: () => void;
}) {
  const fault = faults[field];
  return (
    <Field label={label} hint={hint} fault={fault}>
      {(tied) => (
        <input
          {...tied}
          required
          autoComplete="off"
          value={value}
          className={`${inputClass(fault)} h-11 wide:h-8`}
          onChange={(event) => onText(event.currentTarget.value)}
          onBlur={onLeave}
        />
      )}
    </Field>
  );
}

function ScopeChoice({ draft, faults, change }: Part) {
  return (
    <FieldSet label="Scopes" fault={faults.scopes}>
      {scopes.map(({ scope, does, powerful }) => (
        <label key={scope} className="flex min-h-11 items-center gap-2 wide:min-h-7">
          <input
            type="checkbox"
            className="size-5 flex-none accent-accent-fill wide:size-3.5"
            checked={draft.scopes.includes(scope)}
            onChange={(event) => {
              const on = event.currentTarget.checked;
              const chosen = scopes.map((entry) => entry.scope);
              change({
                scopes: chosen.filter((one) => (one === scope ? on : draft.scopes.includes(one))),
              });
            }}
          />
          <span className="w-27 flex-none">
            <Badge look={powerful ? "warning" : "plain"}>{scope}</Badge>
          </span>
          <span className="min-w-0 text-ink-2">{does}</span>
        </label>
      ))}
    </FieldSet>
  );
}

function ExpiryChoice({ draft, faults, change, now, zone }: Part & { now: number; zone: string }) {
  const end = expireTimeOf(draft, zone, now);
  const hint =
    draft.expiry === "never"
      ? "It holds until it is revoked."
      : "value" in end && end.value !== undefined && `It ends ${dateAndTime(end.value, zone, 0)}.`;
  const fault = faults.expireTime;
  return (
    <FieldSet label="Expires" hint={hint || `A day in ${zone}.`} fault={fault}>
      {(below) => (
        <div className="flex flex-wrap items-center gap-2">
          <Segments
            label="How long"
            value={draft.expiry}
            options={expiryWords}
            onChange={(expiry) => change({ expiry })}
          />
          {draft.expiry === "date" && (
            <input
              type="date"
              aria-label="Last day"
              aria-describedby={below}
              aria-invalid={fault !== undefined}
              max={lastDay}
              value={draft.date}
              className={`${inputClass(fault)} h-11 max-w-40 wide:h-6`}
              onChange={(event) => change({ date: event.currentTarget.value })}
            />
          )}
        </div>
      )}
    </FieldSet>
  );
}

function SourcePrefixes({ draft, faults, change }: Part) {
  const prefixes = prefixesOf(draft);
  const fault = faults.sourcePrefixes;
  if (!writes(draft)) {
    return (
      <p className="t-12 text-ink-3">
        Sources it may write can be limited once the scope <span className="mono-11">events:write</span> is
        chosen.
      </p>
    );
  }
  return (
    <Field
      label="May write sources that begin with"
      optional
      hint={
        prefixes.length === 0 ? (
          "One beginning on each line, such as /home/greenhouse-2. Without one it may write any source."
        ) : (
          <>
            Sources that begin with <Prefixes prefixes={prefixes} />
          </>
        )
      }
      fault={fault}
    >
      {(tied) => (
        <textarea
          {...tied}
          rows={2}
          spellCheck={false}
          autoCapitalize="off"
          value={draft.sources}
          className={`${inputClass(fault)} py-1.5 font-mono`}
          onChange={(event) => change({ sources: event.currentTarget.value })}
        />
      )}
    </Field>
  );
}

function MakeFailed({ error, rest }: { error: Error; rest: readonly string[] }) {
  const plain = plainly(error, "made");
  if (plain) {
    return (
      <Note look="error" fact={plain.fact}>
        {plain.text} What you typed is kept.
      </Note>
    );
  }
  const lost = error instanceof ApiError && (error.code === 0 || error.code === 504);
  return (
    <Note
      look="error"
      fact={lost ? "It is not known whether the token was made." : "The token was not made."}
      codes={error instanceof ApiError ? codesOf(error) : error.name}
    >
      {rest.length > 0 ? rest.join(" ") : error.message}
      {lost &&
        " Look for its name below before you try again: a token whose secret was not seen is of no use, and can be revoked."}
    </Note>
  );
}
