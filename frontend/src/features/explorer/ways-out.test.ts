import { expect, test } from "vitest";
import { byParts } from "./ways-out.ts";

test.each<[string, string | undefined]>([
  ["data.reason:timeout", 'data.reason~"timeout"'],
  ['tea (data.items[*].note="green tea" OR x) y', 'tea (data.items[*].note~"green tea" OR x) y'],
  ["source:/fu/web -type:a", 'source~"/fu/web" -type:a'],
  ["data.path:C:\\logs", 'data.path~"C:\\\\logs"'],
  ["tea data.n:5 data.ok:true data.x:null data.y:pre* severity:error", undefined],
  ["data.n>=5 type:(a OR b)", undefined],
])("%s may be asked for by parts: %s", (query, expected) => expect(byParts(query)).toBe(expected));
