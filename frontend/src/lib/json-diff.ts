/**
 * Two JSON texts compared value by value, as they are spelled: 1.0 is not 1, and a repeated key counts
 * as often as it is there. Elements of arrays are compared by their position.
 */
import { readJson } from "./json.ts";
import { type JsonLayout, LineKind } from "./json-layout.ts";
import { stepsTo } from "./json-tree.ts";
import { dataField } from "./language.ts";
import type { Slices } from "./slices.ts";

export interface Difference {
  /** The place, as the query language writes it. */
  readonly path: string;
  /** The values there as they are spelled, joined where a key repeats; undefined where there is none. */
  readonly left: string | undefined;
  readonly right: string | undefined;
  readonly same: boolean;
}

/** Values laid out between two pauses. */
const atOnce = 500;

/** The values of a text by their place: what is in containers, and containers that are empty. */
function* leaves(text: string, layout: JsonLayout): Slices<Map<string, string>> {
  const found = new Map<string, string>();
  for (let line = 0; line < layout.length; line++) {
    if (line % atOnce === atOnce - 1) yield;
    const kind = layout.kind(line);
    if (kind === LineKind.open || kind === LineKind.close) continue;
    const { valueStart, valueEnd } = layout.at(line);
    const value = text.slice(valueStart, valueEnd).replace(/^([[{])\s*([\]}])$/, "$1$2");
    const path = dataField(stepsTo(text, layout, line));
    const before = found.get(path);
    found.set(path, before === undefined ? value : `${before}\n${value}`);
  }
  return found;
}

/** The container with nothing in it, on one side, that the other side has this place in. */
function emptyAround(path: string, found: ReadonlyMap<string, string>): string | undefined {
  for (let end = path.length - 1; end > 0; end--) {
    if (path[end] !== "." && path[end] !== "[") continue;
    const outer = path.slice(0, end);
    const value = found.get(outer);
    if (value !== undefined) return value === "[]" || value === "{}" ? outer : undefined;
  }
  return undefined;
}

/**
 * Places in the order of the left text, and then of the right one where only it has them; an empty
 * container stands before what the other text has in it.
 */
export function* diffJson(left: string, right: string): Slices<readonly Difference[]> {
  const a = yield* leaves(left, yield* readJson(left));
  const b = yield* leaves(right, yield* readJson(right));
  const all: Difference[] = [];
  const added = new Set<string>();
  const add = (path: string) => {
    if (added.has(path)) return;
    added.add(path);
    const [value, other] = [a.get(path), b.get(path)];
    all.push({ path, left: value, right: other, same: value === other });
  };
  const filled = new Map<string, string[]>();
  for (const path of b.keys()) {
    const outer = a.has(path) ? undefined : emptyAround(path, a);
    if (outer === undefined) continue;
    const inner = filled.get(outer);
    if (inner) inner.push(path);
    else filled.set(outer, [path]);
  }
  for (const path of a.keys()) {
    const outer = b.has(path) ? undefined : emptyAround(path, b);
    if (outer !== undefined) add(outer);
    add(path);
    for (const inner of filled.get(path) ?? []) add(inner);
  }
  for (const path of b.keys()) add(path);
  return all;
}
