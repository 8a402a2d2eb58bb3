import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createRouter, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { PageFailed } from "./features/shell/Failed.tsx";
import { basePath } from "./lib/base.ts";
import { ApiError } from "./lib/http.ts";
import { formatQuery, parseQuery } from "./lib/search.ts";
import { routeTree } from "./routeTree.gen.ts";
import "./styles/app.css";

const retries = 2;

const queryClient = new QueryClient({
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
  },
});

const router = createRouter({
  routeTree,
  basepath: basePath() || "/",
  parseSearch: parseQuery,
  stringifySearch: formatQuery,
  defaultPreload: false,
  defaultErrorComponent: PageFailed,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface HistoryState {
    /** The entry was made by opening an event, so closing it goes back. */
    opened?: boolean;
  }
}

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
