import { type ChipField, isWrittenField } from "#/lib/search.ts";

/** The values of a text that has one on each line; in quotes, where there are quotes, they go on over lines. */
export function linesOf(field: ChipField, text: string): string[] {
  if (field === "q" || !isWrittenField(field)) return text.split("\n");
  return text.match(/"(?:[^"\\]|\\[\s\S])*"\*?(?=\n|$)|[^\n]+/g) ?? [];
}
