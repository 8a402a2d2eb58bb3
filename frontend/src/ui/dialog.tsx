import { type ReactNode, type RefObject, useEffect, useId, useRef } from "react";

/**
 * A dialog over the page, which the browser keeps the focus in and closes on Escape. `close` of the
 * children's render closes it as Escape does.
 */
export function Dialog({
  heading,
  alert = false,
  onClose,
  children,
}: {
  heading: ReactNode;
  /** It asks before something that cannot be undone. */
  alert?: boolean;
  onClose: () => void;
  children: (close: () => void) => ReactNode;
}) {
  const dialog: RefObject<HTMLDialogElement | null> = useRef(null);
  const title = useId();
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  return (
    <dialog
      ref={dialog}
      onClose={onClose}
      role={alert ? "alertdialog" : undefined}
      aria-labelledby={title}
      className="m-auto w-110 max-w-[calc(100vw-32px)] rounded-4 bg-raised text-ink shadow-pop backdrop:bg-scrim"
    >
      <h2 id={title} className="px-5 pt-4 t-16 wrap-anywhere">
        {heading}
      </h2>
      {children(() => dialog.current?.close())}
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
