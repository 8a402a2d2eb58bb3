import { keepPreviousData, useQuery } from "@tanstack/react-query";
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
