import { useEffect, useRef, useState } from "react";

/** So long after a key nobody is taken to be typing any more. */
const pause = 1000;

/**
 * Whether what comes unasked may come now: a dialog in the middle of a word would take the rest of it.
 * Once it came it stays for as long as it is `wanted`.
 */
export function useHandsOff(wanted: boolean): boolean {
  const last = useRef(Number.NEGATIVE_INFINITY);
  const [off, setOff] = useState(false);
  useEffect(() => {
    const note = () => {
      last.current = performance.now();
    };
    window.addEventListener("keydown", note, true);
    return () => window.removeEventListener("keydown", note, true);
  }, []);
  useEffect(() => {
    if (!wanted) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      const left = last.current + pause - performance.now();
      if (left > 0) timer = setTimeout(look, left);
      else setOff(true);
    };
    look();
    return () => {
      clearTimeout(timer);
      setOff(false);
    };
  }, [wanted]);
  return wanted && off;
}
