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

/**
 * What a copied selection holds: of `root` the source as it was received, also where its rows are not
 * all in the page; of what lies before and after it the text on the screen. Undefined where the
 * selection does not touch it.
 */
export function copiedText(
  root: HTMLElement,
  slice: (from: number, to: number) => string,
): string | undefined {
  const selection = root.ownerDocument.getSelection();
  if (!selection || selection.isCollapsed || selection.rangeCount === 0) return undefined;
  const range = selection.getRangeAt(0).cloneRange();
  if (!range.intersectsNode(root)) return undefined;
  const starts = root.contains(range.startContainer);
  const ends = root.contains(range.endContainer);
  const span = starts || ends ? selectedSpan(root) : undefined;
  if (starts && ends) return span && slice(span.from, span.to);
  const source = slice(starts ? (span?.from ?? 0) : 0, ends ? (span?.to ?? 0) : Number.POSITIVE_INFINITY);
  const before = range.cloneRange();
  const after = range.cloneRange();
  before.setEndBefore(root);
  after.setStartAfter(root);
  const parts = [starts ? "" : shownText(selection, before), source, ends ? "" : shownText(selection, after)];
  selection.removeAllRanges();
  selection.addRange(range);
  return parts.filter((part) => part !== "").join("\n");
}

/** Unlike a range, a selection knows where lines end on the screen and what cannot be selected. */
function shownText(selection: Selection, range: Range): string {
  selection.removeAllRanges();
  selection.addRange(range);
  return selection.toString().replace(/\n+$/, "");
}

/** The span of the source that the document's selection covers within `root`. */
function selectedSpan(root: HTMLElement): SourceSpan | undefined {
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
