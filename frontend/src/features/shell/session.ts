import { queryOptions } from "@tanstack/react-query";
import { getSession } from "#/api/oriel.gen.ts";

/** Who is asking, and what this installation is. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => getSession({ signal }),
});
