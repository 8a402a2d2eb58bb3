import { useEffect, useState } from "react";

/**
 * Whether something was so at any time and has been painted since: what waits for it does not hold the
 * painting up, and is not taken away again.
 */
export function useOncePainted(now: boolean): boolean {
  const [was, setWas] = useState(false);
  useEffect(() => {
    if (!now || was) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // The task after the frame.
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => setWas(true));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [now, was]);
  return was;
}
