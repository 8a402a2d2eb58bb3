import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { Blank } from "#/ui/blank.tsx";
import { buttonClass } from "#/ui/controls.tsx";

export function NotFound() {
  useEffect(() => {
    document.title = "Not found · Oriel";
  }, []);
  return (
    <main className="grid min-h-0 flex-1 place-content-center overflow-auto">
      <Blank icon="search" heading="Nothing is at this address" headingLevel="h1">
        <p>The page may have been named differently. Links to events start with /events/.</p>
        <Link to="/explore" className={buttonClass()}>
          Explore events
        </Link>
      </Blank>
    </main>
  );
}
