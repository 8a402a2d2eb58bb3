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

/** Places in the order of the left text, and of the right one where only it has them. */
export function* diffJson(left: string, right: string): Slices<readonly Difference[]> {
  const a = yield* leaves(left, yield* readJson(left));
  const b = yield* leaves(right, yield* readJson(right));
  const all: Difference[] = [];
  for (const [path, value] of a) {
    const other = b.get(path);
    all.push({ path, left: value, right: other, same: value === other });
  }
  for (const [path, value] of b) {
    if (!a.has(path)) all.push({ path, left: undefined, right: value, same: false });
  }
  return all;
}
