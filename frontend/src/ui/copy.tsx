import { createContext, type ReactNode, useCallback, useContext, useEffect, useRef, useState } from "react";
import { copyText } from "#/lib/clipboard.ts";
import { Button } from "./controls.tsx";
import { Icon } from "./icons.tsx";

/** `done` is called where it worked. */
type Copy = (text: string, what: string, done?: () => void) => void;

const CopyContext = createContext<Copy>(() => undefined);

/** Copies a text, names it in a status message, and offers it selected where the browser refuses. */
export function useCopy(): Copy {
  return useContext(CopyContext);
}

const SayContext = createContext<(text: string) => void>(() => undefined);

/** Says in a status message why a key did nothing. */
export function useSay(): (text: string) => void {
  return useContext(SayContext);
}

interface Outcome {
  /** What was copied. */
  readonly what?: string;
  /** What else there is to say. */
  readonly said?: string;
  /** The text, where it could not be copied. */
  readonly refused: string | undefined;
}

const shownFor = 2000;
/** Of what is to be read. */
const saidFor = 5000;

export function CopyProvider({ children }: { children: ReactNode }) {
  const [outcome, setOutcome] = useState<Outcome>();
  const copy = useCallback<Copy>((text, what, done) => {
    void copyText(text).then((copied) => {
      setOutcome({ what, refused: copied ? undefined : text });
      if (copied) done?.();
    });
  }, []);
  const say = useCallback((said: string) => setOutcome({ said, refused: undefined }), []);
  useEffect(() => {
    if (outcome === undefined || outcome.refused !== undefined) return;
    const timer = setTimeout(() => setOutcome(undefined), outcome.said ? saidFor : shownFor);
    return () => clearTimeout(timer);
  }, [outcome]);
  return (
    <CopyContext value={copy}>
      <SayContext value={say}>{children}</SayContext>
      <div role="status" className="pointer-events-none fixed inset-x-0 bottom-10 z-50 flex justify-center">
        {outcome && outcome.refused === undefined && (
          <span className="inline-flex items-center gap-2 rounded-3 bg-raised px-3 py-2 t-12 shadow-pop">
            <Icon
              name={outcome.said ? "info" : "check"}
              className={outcome.said ? "text-ink-3" : "text-accent"}
            />
            {outcome.said ?? `Copied ${outcome.what}`}
          </span>
        )}
      </div>
      {outcome?.refused !== undefined && (
        <Refused text={outcome.refused} onClose={() => setOutcome(undefined)} />
      )}
    </CopyContext>
  );
}

function Refused({ text, onClose }: { text: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    area.current?.select();
  }, []);
  return (
    <dialog
      ref={dialog}
      onClose={onClose}
      aria-label="Not copied"
      className="m-auto w-110 max-w-[calc(100vw-32px)] rounded-4 bg-raised p-5 text-ink shadow-pop backdrop:bg-scrim"
    >
      <p className="t-12">
        <b className="font-semibold">Not copied.</b> The browser refused. The text is selected: press Ctrl C.
      </p>
      <textarea
        ref={area}
        readOnly
        value={text}
        aria-label="The text"
        rows={6}
        className="my-3 w-full rounded-2 border border-line-3 bg-surface p-2 mono-12"
      />
      <div className="flex justify-end">
        <Button onClick={() => dialog.current?.close()}>Close</Button>
      </div>
    </dialog>
  );
}
