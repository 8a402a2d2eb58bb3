import { expect, test } from "vitest";
import { drain, inSlices, type Outcome, type Slices } from "./slices.ts";

function* counting(to: number, failAt = Number.POSITIVE_INFINITY): Slices<number> {
  for (let i = 0; i < to; i++) {
    if (i === failAt) throw new Error("no");
    yield;
  }
  return to;
}

/** Each pause takes a millisecond. */
function clock() {
  let now = 0;
  return () => now++;
}

test("what fits into one slice is there at once", () => {
  expect(inSlices(counting(5), () => undefined, clock())).toEqual({ value: 5 });
  expect(drain(counting(500))).toBe(500);
});

test("longer work goes on later, in order and once", async () => {
  const outcome = await new Promise<Outcome<number>>((resolve) => {
    const first = inSlices(counting(100), resolve, clock());
    expect(typeof first).toBe("function");
  });
  expect(outcome).toEqual({ value: 100 });
});

test("a failure is an outcome, at once and later", async () => {
  expect(inSlices(counting(5, 2), () => undefined, clock())).toMatchObject({ error: { message: "no" } });
  const later = await new Promise((resolve) => inSlices(counting(100, 80), resolve, clock()));
  expect(later).toMatchObject({ error: { message: "no" } });
});

test("work that was stopped does no more", async () => {
  let told = false;
  const stop = inSlices(
    counting(100),
    () => {
      told = true;
    },
    clock(),
  );
  if (typeof stop === "function") stop();
  await new Promise((resolve) => inSlices(counting(200), resolve, clock()));
  expect(told).toBe(false);
});
