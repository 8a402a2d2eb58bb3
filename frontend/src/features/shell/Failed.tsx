import { type ErrorComponentProps, useRouter } from "@tanstack/react-router";
import { underBase } from "#/lib/base.ts";
import { Button, Note } from "#/ui/controls.tsx";
import { Mark } from "#/ui/icons.tsx";
import type { FailedPart } from "#/ui/part.tsx";

/** Where the code of a part of the page did not come. */
export function PartFailed({ error, retry }: FailedPart) {
  return (
    <div className="p-4">
      <Note
        look="error"
        fact="This part of the app could not be loaded."
        codes={error.message}
        actions={<WaysOn retry={retry} />}
      >
        The server does not answer, or it has a newer version of the app. Reload takes the newer one.
      </Note>
    </div>
  );
}

/** In the place of a whole page. */
export function PagePartFailed(failure: FailedPart) {
  return (
    <main className="min-h-0 flex-1">
      <PartFailed {...failure} />
    </main>
  );
}

/** Where a page broke. The bar above it goes on working. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <main className="min-h-0 flex-1 overflow-auto p-4">
      <Note look="error" fact="This page broke." codes={String(error)} actions={<WaysOn retry={retry} />}>
        Nothing that is stored was changed.
      </Note>
    </main>
  );
}

/** Where the frame of the pages broke, so that none of its parts can be relied on. */
export function AppFailed(props: ErrorComponentProps) {
  return (
    <>
      <header className="flex h-12 flex-none items-center border-b border-line bg-surface px-4 wide:h-11 wide:px-3">
        <a
          href={underBase("/explore")}
          className="flex h-8 items-center gap-2 rounded-2 text-[14px]/5 font-semibold"
        >
          <Mark />
          Oriel
        </a>
      </header>
      <PageFailed {...props} />
    </>
  );
}

function WaysOn({ retry }: { retry: () => void }) {
  return (
    <>
      <Button size="small" icon="refresh" onClick={retry}>
        Try again
      </Button>
      <Button size="small" look="ghost" onClick={() => location.reload()}>
        Reload
      </Button>
    </>
  );
}
