import { ApiError, codesOf } from "#/lib/http.ts";
import { Button, Note } from "#/ui/controls.tsx";
import type { useSignOut } from "./useSignOut.ts";

/** A sign-out that did not happen must not look like one. */
export function SignOutFailed({ leave }: { leave: ReturnType<typeof useSignOut> }) {
  const { error, variables, mutate, reset } = leave;
  if (!error) return null;
  return (
    <div className="w-full text-left">
      <Note
        look="error"
        fact="You are still signed in."
        codes={error instanceof ApiError ? codesOf(error) : undefined}
        actions={
          <>
            {variables && (
              <Button size="small" icon="refresh" onClick={() => mutate(variables)}>
                Try again
              </Button>
            )}
            <Button size="small" look="ghost" onClick={reset}>
              Stay
            </Button>
          </>
        }
      >
        {error.message}
      </Note>
    </div>
  );
}
