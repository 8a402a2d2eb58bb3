/** Long work in slices, between which the page answers to its user. */

/** Work that pauses where it may be left for a while, about every millisecond. */
export type Slices<T> = Generator<undefined, T, undefined>;

/** Does the work without a pause. */
export function drain<T>(work: Slices<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

const slice = 12;

export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/**
 * Does the work, at most a slice at a time. What one slice suffices for is there at once; otherwise
 * `later` gets it, unless the answered function has stopped the work before.
 */
export function inSlices<T>(
  work: Slices<T>,
  later: (outcome: Outcome<T>) => void,
  now: () => number = () => performance.now(),
): Outcome<T> | (() => void) {
  const first = step(work, now);
  if (first) return first;
  const channel = new MessageChannel();
  const stop = () => channel.port1.close();
  // A message is not slowed down by the browser as a timer is, and lets it paint in between.
  channel.port1.onmessage = () => {
    const outcome = step(work, now);
    if (!outcome) {
      channel.port2.postMessage(null);
      return;
    }
    stop();
    later(outcome);
  };
  channel.port2.postMessage(null);
  return stop;
}

function step<T>(work: Slices<T>, now: () => number): Outcome<T> | undefined {
  const until = now() + slice;
  try {
    do {
      const { done, value } = work.next();
      if (done) return { value };
    } while (now() < until);
  } catch (error) {
    return { error };
  }
  return undefined;
}
