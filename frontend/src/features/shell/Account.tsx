import { useState } from "react";
import type { Session } from "#/api/oriel.gen.ts";
import { roleOf } from "#/lib/roles.ts";
import { dateAndTime, exactLength } from "#/lib/time.ts";
import { Button } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Dialog, DialogFooter } from "#/ui/dialog.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Menu } from "#/ui/popover.tsx";
import { Visible } from "#/ui/visible.tsx";
import { useZone } from "#/ui/zone.tsx";
import { SignOutFailed } from "./SignOutFailed.tsx";
import { useSignOut } from "./useSignOut.ts";

/** Who is signed in, as what and until when, and the ways out. */
export function Account({ session }: { session: Session }) {
  const leave = useSignOut();
  const copy = useCopy();
  const [asking, setAsking] = useState(false);
  const role = roleOf(session) ?? (session.kind === "person" ? "no role" : session.kind);
  const ways = [
    {
      label: "Sign out",
      icon: "leave" as const,
      onSelect: () => leave.mutate({ everywhere: false }),
    },
    {
      label: "Sign out everywhere",
      icon: "leaveAll" as const,
      onSelect: () => setAsking(true),
    },
  ];
  const identity = [
    { label: "Copy the id", icon: "copy" as const, onSelect: () => copy(session.id, "the id") },
  ];
  return (
    <>
      <Menu
        label="Account"
        align="end"
        heading={<Facts session={session} />}
        items={[session.kind === "person" ? ways : identity]}
        trigger={{
          className:
            "flex h-10 max-w-50 min-w-10 flex-none items-center justify-center gap-1.5 rounded-2 px-1.5 t-12 font-medium text-ink-2 hover:bg-hover hover:text-ink wide:h-7",
          "aria-label": `Account: ${session.name}, ${role}`,
          children: (
            <>
              {/* A picture, not a part of the button's words. */}
              <span
                aria-hidden="true"
                data-initials={initials(session.name)}
                className="grid size-5.5 flex-none place-items-center rounded-full bg-accent-tint text-[10px] font-semibold text-accent uppercase before:content-[attr(data-initials)]"
              />
              <span className="cut max-wide:hidden">{role}</span>
            </>
          ),
        }}
      />
      {asking && (
        <Dialog alert heading="Sign out everywhere?" onClose={() => setAsking(false)}>
          {(close) => (
            <>
              <p className="px-5 pt-2 pb-4 text-ink-2">
                Every session of yours ends, in all browsers, and this one too.
              </p>
              <DialogFooter>
                <Button onClick={close}>Stay</Button>
                <Button
                  look="danger"
                  onClick={() => {
                    close();
                    leave.mutate({ everywhere: true });
                  }}
                >
                  Sign out everywhere
                </Button>
              </DialogFooter>
            </>
          )}
        </Dialog>
      )}
      {leave.error && (
        <div className="fixed inset-x-4 top-14 z-50 mx-auto max-w-110 rounded-2 shadow-pop">
          <SignOutFailed leave={leave} />
        </div>
      )}
    </>
  );
}

function Facts({ session }: { session: Session }) {
  const zone = useZone();
  const { name, email, kind, roles, scopes, expireTime, idleSeconds } = session;
  return (
    <div className="-mx-2 max-w-80 border-b border-line px-2 pb-2 wrap-anywhere">
      <p className="font-semibold text-ink">
        <Visible text={name} />
      </p>
      {email && email !== name && (
        <p>
          <Visible text={email} />
        </p>
      )}
      {kind === "person" ? (
        <p>
          {roles.length === 0
            ? "No role yet"
            : `${roles.length === 1 ? "Role" : "Roles"}: ${roles.join(", ")}`}
        </p>
      ) : (
        <p>Scopes: {scopes.join(", ") || "none"}</p>
      )}
      {expireTime && (
        <p className="mt-1 flex gap-1.5">
          <Icon name="clock" small className="mt-0.5" />
          <span>
            Session ends {dateAndTime(expireTime, zone, 0)}
            {idleSeconds !== undefined && `, or ${exactLength(idleSeconds * 1000)} after its last use`}
          </span>
        </p>
      )}
    </div>
  );
}

/** The first letters of two words, or the first two of one. */
function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  return words.length > 1
    ? words
        .slice(0, 2)
        .map((word) => word.slice(0, 1))
        .join("")
    : name.slice(0, 2);
}
