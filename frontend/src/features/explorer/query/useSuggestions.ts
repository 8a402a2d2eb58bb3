import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { type Suggestion, suggest } from "#/api/oriel.gen.ts";
import { charactersIn, unitsOf } from "#/lib/query-tokens.ts";

/** How long the typing rests before the server is asked. */
const rest = 80;

export interface Completion {
  /** What an accepted suggestion replaces, as offsets into the string. */
  readonly from: number;
  readonly until: number;
  readonly suggestions: readonly Suggestion[];
}

const fewNames = 3;

/** Fields of the stored events that may be called by names that are none, by name; nothing until it is known. */
export function useFieldsCalled(names: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const asked = [...new Set(names)].slice(0, fewNames);
  return useQueries({
    queries: asked.map((name) => ({
      queryKey: ["suggest", name, name.length],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        suggest({ text: name, position: charactersIn(name) }, { signal }),
      staleTime: 30_000,
      gcTime: 60_000,
      retry: false,
    })),
    combine: (results) =>
      new Map(
        results.map(({ data }, index) => [
          asked[index] ?? "",
          (data?.suggestions ?? [])
            .filter(({ kind }) => kind === "field" || kind === "path")
            .map(({ text }) => text),
        ]),
      ),
  });
}

/** What may stand at the caret. Suggestions of another text are never answered. */
export function useSuggestions(text: string, caret: number, wanted: boolean): Completion | undefined {
  const [asked, setAsked] = useState({ text, caret });
  useEffect(() => {
    const timer = setTimeout(() => setAsked({ text, caret }), rest);
    return () => clearTimeout(timer);
  }, [text, caret]);
  const { data, isPlaceholderData } = useQuery({
    queryKey: ["suggest", asked.text, asked.caret],
    queryFn: ({ signal }) =>
      suggest({ text: asked.text, position: charactersIn(asked.text.slice(0, asked.caret)) }, { signal }),
    enabled: wanted,
    staleTime: 30_000,
    gcTime: 60_000,
    retry: false,
    placeholderData: keepPreviousData,
  });
  const fresh = data && !isPlaceholderData && asked.text === text && asked.caret === caret;
  if (!wanted || !fresh) return undefined;
  return {
    from: unitsOf(text, data.from),
    until: unitsOf(text, data.until),
    suggestions: data.suggestions,
  };
}
