import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { getShareLink } from "#/api/oriel.gen.ts";
import { ApiError, codesOf, mayHelp } from "#/lib/http.ts";
import { formatQuery, parseQuery } from "#/lib/search.ts";
import { Button, buttonClass, Note } from "#/ui/controls.tsx";
import { Slow } from "#/ui/slow.tsx";
import { useUrl } from "#/ui/url.ts";

/** Goes on to the search that a share link stands for. The link is no step to go back to. */
export function SharedSearch({ slug }: { slug: string }) {
  const router = useRouter();
  // What a link says beside the filter, such as the columns.
  const { params: beside } = useUrl();
  const link = useQuery({
    queryKey: ["share-link", slug],
    queryFn: ({ signal }) => getShareLink(encodeURIComponent(slug), { signal }),
  });
  const params = link.data?.params;
  useEffect(() => {
    document.title = "Shared search · Oriel";
    if (params === undefined) return;
    const path = router.buildLocation({ to: "/explore" }).pathname;
    router.history.replace(`${path}${formatQuery({ ...parseQuery(params), ...beside })}`);
  }, [params, beside, router]);
  const { error } = link;
  return (
    <main className="min-h-0 flex-1 overflow-auto p-4">
      {error ? (
        <Note
          look="error"
          fact={error.message}
          codes={error instanceof ApiError ? codesOf(error) : undefined}
          actions={
            <>
              {mayHelp(error) && (
                <Button size="small" icon="refresh" onClick={() => void link.refetch()}>
                  Try again
                </Button>
              )}
              <Link to="/explore" className={buttonClass()}>
                Explore events
              </Link>
            </>
          }
        />
      ) : (
        <span className="t-13 text-ink-2" role="status">
          <Slow key={slug} word="Opening the search…" onCancel={() => router.history.back()} />
        </span>
      )}
    </main>
  );
}
