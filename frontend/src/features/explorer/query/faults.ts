import type { ApiError } from "#/lib/http.ts";
import { unitsOf } from "#/lib/query-tokens.ts";

/** One mistake in a query, as offsets into its string. */
export interface Mistake {
  readonly start: number;
  readonly end: number;
  /** Where it begins, in characters from 1. */
  readonly position: number;
  readonly message: string;
  /** What would be right. */
  readonly accepted: string;
  /** Fields that may have been meant. */
  readonly suggestions: readonly string[];
}

/** The mistakes that the server found, in the order of their places; those without a place are left out. */
export function mistakesOf(query: string, fault: ApiError | undefined): readonly Mistake[] {
  if (!fault) return [];
  return fault.details
    .flatMap(({ message, metadata }) => {
      const position = Number(metadata.position);
      if (!Number.isInteger(position) || position < 1) return [];
      const start = unitsOf(query, position - 1);
      const length = Math.max(Number(metadata.length) || 1, 1);
      const end = unitsOf(query, position - 1 + length);
      const suggestions = metadata.suggestions?.split(", ").filter(Boolean) ?? [];
      const { accepted = "" } = metadata;
      // The place and what is accepted are said apart.
      const [what = ""] = message.split(`, at character ${position} of `);
      return [{ start, end, position, message: what, accepted, suggestions }];
    })
    .toSorted((a, b) => a.start - b.start);
}
