/** From what is selected on the screen to what it stands for in the received text. */

export interface SourceSpan {
  readonly from: number;
  readonly to: number;
}

interface Anchor {
  readonly element: HTMLElement;
  readonly start: number;
  readonly units: number;
}

function anchorOf(element: Element): Anchor | undefined {
  if (!(element instanceof HTMLElement)) return undefined;
  const start = Number(element.dataset.start);
  const units = Number(element.dataset.units);
  return Number.isNaN(start) || Number.isNaN(units) ? undefined : { element, start, units };
}

/** The span of the source that the document's selection covers within `root`. */
export function selectedSpan(root: HTMLElement): SourceSpan | undefined {
  const selection = root.ownerDocument.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0);
  const covered = [...root.querySelectorAll("[data-start]")]
    .filter((element) => range.intersectsNode(element))
    .map(anchorOf)
    .filter((anchor) => anchor !== undefined);
  const first = covered[0];
  const last = covered.at(-1);
  if (!first || !last) return undefined;
  const from = first.start + offsetIn(first, range.startContainer, range.startOffset, 0);
  const to = last.start + offsetIn(last, range.endContainer, range.endOffset, last.units);
  return to > from ? { from, to } : undefined;
}

/** A fragment of one unit for each character is cut where the selection is; a glyph is taken whole. */
function offsetIn({ element, units }: Anchor, container: Node, offset: number, otherwise: number): number {
  if (!element.contains(container) || container.nodeType !== Node.TEXT_NODE) return otherwise;
  return element.textContent.length === units ? Math.min(offset, units) : otherwise;
}
