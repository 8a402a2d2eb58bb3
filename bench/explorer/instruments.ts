/** What a page is measured with, from within, as the person in front of it would see it. */
export interface Clock {
  /** When the first rows were painted, since the navigation, and the scripts that had come by then. */
  firstRows: { readonly at: number; readonly scripts: readonly string[] } | undefined;
  /** From the next click to what was expected of it, painted. */
  took: number | undefined;
  expectTree: () => void;
  expectRows: () => void;
  /** How many rows the last one in the document makes. */
  lastRow: () => number;
  /** Scrolls the list to its end. */
  toEnd: () => void;
  frame: () => Promise<void>;
}

/** Runs in the page before its own scripts, and knows nothing from without. */
export function instruments(): void {
  const grid = () => document.querySelector<HTMLElement>('[role="grid"][aria-label="Events"]');
  const rows = () => [...(grid()?.querySelectorAll<HTMLElement>("[data-index]") ?? [])];
  /** Calls back after the frame in which the document became so. */
  const painted = (is: () => boolean, then: (at: number, changed: number) => void) => {
    const watch = new MutationObserver(() => {
      if (!is()) return;
      watch.disconnect();
      const changed = performance.now();
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => then(performance.now(), changed);
        port2.postMessage(undefined);
      });
    });
    watch.observe(document, {
      subtree: true,
      childList: true,
      attributes: true,
      attributeFilter: ["aria-busy"],
    });
  };
  const afterClick = (is: () => boolean) => {
    clock.took = undefined;
    const clicked = (event: MouseEvent) => {
      painted(is, (at) => {
        clock.took = at - event.timeStamp;
      });
    };
    document.addEventListener("click", clicked, { capture: true, once: true });
  };
  const clock: Clock = {
    firstRows: undefined,
    took: undefined,
    expectTree: () => afterClick(() => document.querySelector('[role="tree"] [role="treeitem"]') !== null),
    expectRows: () => {
      let asked = false;
      afterClick(() => {
        const busy = grid()?.getAttribute("aria-busy") === "true";
        asked ||= busy;
        return asked && !busy && rows().length > 0;
      });
    },
    lastRow: () => Math.max(...rows().map((row) => Number(row.dataset.index))) + 1,
    toEnd: () => {
      const list = grid();
      if (list) list.scrollTop = list.scrollHeight;
    },
    frame: () => new Promise((resolve) => requestAnimationFrame(() => resolve())),
  };
  Object.assign(window, { clock });
  painted(
    () => rows().length > 0,
    (at, changed) => {
      const scripts = performance
        .getEntriesByType("resource")
        .filter(({ startTime, duration }) => startTime + duration <= changed)
        .map(({ name }) => new URL(name).pathname)
        .filter((path) => path.includes("/assets/") && path.endsWith(".js"))
        .map((path) => path.split("/").at(-1) ?? "");
      clock.firstRows = { at, scripts };
    },
  );
}
