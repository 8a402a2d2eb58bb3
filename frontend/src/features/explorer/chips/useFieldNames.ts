import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { suggest } from "#/api/oriel.gen.ts";
import type { Field } from "#/lib/search.ts";

/** Fields that events have, of which something was typed. */
export function useFieldNames(typed: string): readonly Field[] {
  const { data } = useQuery({
    queryKey: ["suggest-fields", typed],
    queryFn: async ({ signal }) => {
      const { suggestions } = await suggest({ text: typed }, { signal });
      return suggestions.flatMap(({ kind, text }) => (kind === "field" || kind === "path" ? [text] : []));
    },
    enabled: typed !== "",
    staleTime: 30_000,
    retry: false,
    placeholderData: keepPreviousData,
  });
  return data ?? [];
}
