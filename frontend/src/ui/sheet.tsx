import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";

interface Sheet {
  readonly open: boolean;
  readonly setOpen: (open: boolean) => void;
}

const SheetContext = createContext<Sheet>({ open: false, setOpen: () => undefined });

/** Knows whether a sheet covers the page, so that nothing under it can take the focus. */
export function SheetProvider({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const value = useMemo(() => ({ open, setOpen }), [open]);
  return <SheetContext value={value}>{children}</SheetContext>;
}

export function useSheetOpen(): boolean {
  return useContext(SheetContext).open;
}

/** Says that a sheet covers the page while `open`. */
export function useSheet(open: boolean): void {
  const { setOpen } = useContext(SheetContext);
  useEffect(() => {
    setOpen(open);
    return () => setOpen(false);
  }, [open, setOpen]);
}
