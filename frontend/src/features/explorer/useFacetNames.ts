import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { suggest } from "#/api/oriel.gen.ts";
import { type Field, type Params, usualFacets } from "#/lib/search.ts";

const facetName = /^[a-z][a-z0-9_-]{0,39}$/;

/**
 * The installation's facet fields, whose names are parameters. They are asked for where the URL has a
 * name that may be one of them; until the answer is there it is taken for one, so that a link to such
 * a search does not first show all that it filters out.
 */
export function useFacetNames(params: Params): readonly Field[] {
  const candidates = [...Object.keys(params), ...columnNames(params.cols?.[0])]
    .map((key) => (key.endsWith("!") ? key.slice(0, -1) : key))
    .filter((name) => facetName.test(name) && !own.has(name));
  const { data, error } = useQuery({
    queryKey: ["facet-fields"],
    queryFn: async ({ signal }) => {
      const { suggestions } = await suggest({ text: "" }, { signal });
      return suggestions.flatMap(({ kind, detail, text }) =>
        kind === "field" && detail === "facet" ? [text] : [],
      );
    },
    staleTime: Number.POSITIVE_INFINITY,
    enabled: candidates.length > 0,
    retry: false,
  });
  const guessed = candidates.join(" ");
  return useMemo(() => {
    if (data || guessed === "" || error) return data ?? usualFacets;
    return [...usualFacets, ...guessed.split(" ")];
  }, [data, error, guessed]);
}

function columnNames(cols = ""): string[] {
  return cols.split(",").map((column) => column.replace(/:\d+$/, ""));
}

/** Names that are something else, whatever the installation configures. */
const own = new Set([
  ...[
    "q",
    "from",
    "until",
    "event",
    "time",
    "zone",
    "v",
    "view",
    "around",
    "cols",
    "density",
    "split",
    "off",
  ],
  ...["pin", "type", "source", "subject", "severity", "data", ...usualFacets],
  // Of columns and the language.
  ...["summary", "id", "trace", "datacontenttype", "dataschema"],
]);
