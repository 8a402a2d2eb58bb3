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
  /** What to write in its place, where one thing must have been meant. */
  readonly replacement: string | undefined;
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
      const { accepted = "", replacement } = metadata;
      // The place and what is accepted are said apart.
      const [what = ""] = message.split(`, at character ${position} of `);
      return [{ start, end, position, message: what, accepted, suggestions, replacement }];
    })
    .toSorted((a, b) => a.start - b.start);
}

/** The name that stands for a field that there is not. */
export function nameOf(query: string, { start, end, suggestions }: Mistake): string | undefined {
  return suggestions.length > 0 ? query.slice(start, end) : undefined;
}

const guessed = /^(?:data|ext)\./;

/**
 * Fields that may have been meant, where `there` are those of the events that are called so: those, with
 * others spelled almost so. What nobody has seen is offered where there is nothing else.
 */
export function meant(name: string, mistake: Mistake, there: readonly string[]): readonly string[] {
  const inData = there.filter(
    (field) => guessed.test(field) && (field.endsWith(`.${name}`) || field === name),
  );
  const named = mistake.suggestions.filter((field) => !guessed.test(field));
  const seen = [...new Set([...named, ...inData])];
  return seen.length > 0 ? seen : mistake.suggestions;
}

/** The query without its mistakes, where each has one thing to be written instead. */
export function mended(query: string, mistakes: readonly Mistake[]): string | undefined {
  let text = query;
  for (const { start, end, replacement } of mistakes.toReversed()) {
    if (replacement === undefined) return undefined;
    text = text.slice(0, start) + replacement + text.slice(end);
  }
  return mistakes.length > 0 ? text : undefined;
}
