/** What an operation changed, line by line, as the record has it before and after. */

export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  /** A path with dots into the object. */
  readonly key: string;
  /** As JSON, a text without its quotes; a list that has values is one of these. */
  readonly value: string | readonly string[];
}

type Leaves = ReadonlyMap<string, unknown>;

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** The values that are no objects, in the order in which they stand; an empty object is one. */
function leavesOf(value: unknown, path: string, into: Map<string, unknown>): Map<string, unknown> {
  if (isObject(value) && Object.keys(value).length > 0) {
    for (const [key, child] of Object.entries(value)) {
      leavesOf(child, path === "" ? key : `${path}.${key}`, into);
    }
  } else if (path !== "") into.set(path, value);
  return into;
}

function lineOf(kind: DiffLine["kind"], key: string, leaves: Leaves): DiffLine {
  const value = leaves.get(key);
  return { kind, key, value: Array.isArray(value) && value.length > 0 ? value.map(shown) : shown(value) };
}

export function diff(before: unknown, after: unknown): readonly DiffLine[] {
  const old = leavesOf(before, "", new Map());
  const now = leavesOf(after, "", new Map());
  const keys = [...new Set([...old.keys(), ...now.keys()])];
  return keys.flatMap((key) => {
    if (!now.has(key)) return [lineOf("removed", key, old)];
    if (!old.has(key)) return [lineOf("added", key, now)];
    if (JSON.stringify(old.get(key)) === JSON.stringify(now.get(key))) return [lineOf("same", key, now)];
    return [lineOf("removed", key, old), lineOf("added", key, now)];
  });
}
