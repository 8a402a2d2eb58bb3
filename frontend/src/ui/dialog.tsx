import { type ReactNode, type RefObject, useEffect, useId, useRef } from "react";

/**
 * A dialog over the page, which the browser keeps the focus in and closes on Escape. `close` of the
 * children's render closes it as Escape does, and gives the focus back.
 */
export function Dialog({
  heading,
  alert = false,
  held = false,
  wide = false,
  unasked = false,
  onClose,
  children,
}: {
  heading: ReactNode;
  /** It asks before something that cannot be undone. */
  alert?: boolean;
  /** Something is under way that Escape must not end. */
  held?: boolean;
  /** As wide as two texts side by side need. */
  wide?: boolean;
  /** Nobody asked for it: no button of it has the focus, so that a key meant for the page presses none. */
  unasked?: boolean;
  onClose: () => void;
  children: (close: () => void) => ReactNode;
}) {
  const dialog: RefObject<HTMLDialogElement | null> = useRef(null);
  const left = useRef(false);
  const title = useId();
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    if (unasked) head.current?.focus();
    // One that cannot be pressed now would have it say why, over what is below.
    else if (document.activeElement?.ariaDisabled === "true")
      dialog.current?.querySelector<HTMLElement>("button:not([aria-disabled])")?.focus();
  }, [unasked]);
  // The browser tells of a close a little later: until then a page that changes could take it for open.
  const close = () => {
    if (left.current) return;
    left.current = true;
    dialog.current?.close();
    onClose();
  };
  return (
    <dialog
      ref={dialog}
      onClose={close}
      // At once: keys that follow Escape are the page's, and must not lose the focus again.
      onCancel={(event) => {
        event.preventDefault();
        if (!held) close();
      }}
      role={alert ? "alertdialog" : undefined}
      aria-labelledby={title}
      className={`m-auto ${wide ? "w-280" : "w-110"} max-w-[calc(100vw-32px)] rounded-4 bg-raised text-ink shadow-pop backdrop:bg-scrim`}
    >
      <h2
        ref={head}
        id={title}
        tabIndex={unasked ? -1 : undefined}
        className="px-5 pt-4 t-16 wrap-anywhere outline-none"
      >
        {heading}
      </h2>
      {children(close)}
    </dialog>
  );
}

/** The row of buttons at a dialog's end. */
export function DialogFooter({ children }: { children: ReactNode }) {
  return (
    <footer className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-5 py-3">
      {children}
    </footer>
  );
}
