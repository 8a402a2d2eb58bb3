import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRouter, type RouterHistory, RouterProvider } from "@tanstack/react-router";
import { PageFailed } from "./features/shell/Failed.tsx";
import { basePath } from "./lib/base.ts";
import { ApiError } from "./lib/http.ts";
import { formatQuery, parseQuery } from "./lib/search.ts";
import { routeTree } from "./routeTree.gen.ts";

const retries = 2;

function createClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // What a search shows is frozen until it is run again.
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always",
        retry: (count, error) => count < retries && error instanceof ApiError && error.transient,
        retryDelay: (count, error) => {
          const asked = error instanceof ApiError ? error.retryAfter : undefined;
          return asked === undefined ? 300 * 2 ** count : Math.min(asked, 5) * 1000;
        },
      },
      mutations: { networkMode: "always" },
    },
  });
}

function createAppRouter(history: RouterHistory | undefined) {
  return createRouter({
    routeTree,
    basepath: basePath() || "/",
    parseSearch: parseQuery,
    stringifySearch: formatQuery,
    defaultPreload: false,
    defaultErrorComponent: PageFailed,
    ...(history && { history }),
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
  interface HistoryState {
    /** The entry was made by opening an event, so closing it goes back. */
    opened?: boolean;
    /** Of an event's page: the query of the search that it was opened from. */
    cameFrom?: string;
  }
}

/** The app in the browser's own history, or in one that is given. */
export function createApp(history?: RouterHistory) {
  const client = createClient();
  const router = createAppRouter(history);
  return (
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}
