import { useRouterState } from "@tanstack/react-router";
import { useSheetOpen } from "#/ui/sheet.tsx";

/** The first stop of the keyboard: past everything that stands before what the page is about. */
export function SkipLink() {
  const searching = useRouterState({ select: ({ location }) => location.pathname === "/explore" });
  const covered = useSheetOpen();
  const skip = () => {
    const main = document.querySelector<HTMLElement>("main");
    const events = main?.querySelector<HTMLElement>("[role=grid]");
    if (events) events.focus();
    else if (main) {
      main.tabIndex = -1;
      main.focus();
    }
  };
  return (
    <button
      type="button"
      inert={covered}
      className="fixed -top-20 left-2 z-50 h-10 rounded-2 bg-raised px-3 t-12 font-medium text-accent shadow-pop focus:top-1 wide:h-8 wide:focus:top-1.5"
      onClick={skip}
    >
      {searching ? "Skip to the events" : "Skip to the page"}
    </button>
  );
}
