import { queryOptions } from "@tanstack/react-query";
import { getInstallation, getSession } from "#/api/oriel.gen.ts";

/** Who is asking. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => getSession({ signal }),
});

/** What this installation says to anyone: its name, and where people sign in. */
export const installationQuery = queryOptions({
  queryKey: ["installation"],
  queryFn: ({ signal }) => getInstallation({ signal }),
});
