/** The queries that a person ran in this browser, newest first. They are shown to no other person. */

const prefix = "oriel.queries.";
const kept = 50;

export function readHistory(owner: string): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(prefix + owner) ?? "[]");
    return Array.isArray(stored) ? stored.filter((query) => typeof query === "string" && query !== "") : [];
  } catch {
    // Storage is off, or holds something else.
    return [];
  }
}

/** Without storage there is no history. */
export function remember(owner: string, query: string): void {
  if (query === "") return;
  const queries = [query, ...readHistory(owner).filter((other) => other !== query)].slice(0, kept);
  try {
    localStorage.setItem(prefix + owner, JSON.stringify(queries));
  } catch {
    // Storage is off, or full.
  }
}
