import { expect, test } from "vitest";
import type { Event } from "#/api/oriel.gen.ts";
import { toggled } from "./usePicked.ts";

const event = (id: string, occurredAt = "2026-11-30T12:00:00Z") =>
  ({ name: `events/s:${id}`, occurredAt }) as Event;
const names = (events: readonly Event[]) => events.map(({ name, occurredAt }) => `${name} ${occurredAt}`);

test("of three selected events the first gives way", () => {
  const [a, b, c] = [event("a"), event("b"), event("c")];
  const three = [a, b, c].reduce<readonly Event[]>((before, next) => toggled(before, next), []);
  expect(three).toEqual([b, c]);
});

test("selecting an event again takes it back, also where it was read anew", () => {
  expect(toggled([event("a"), event("b")], event("a"))).toEqual([event("b")]);
});

test("the same identity at another time is another event", () => {
  expect(names(toggled([event("a")], event("a", "2026-11-29T12:00:00Z")))).toHaveLength(2);
});
