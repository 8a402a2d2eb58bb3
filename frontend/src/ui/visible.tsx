import { Fragment, memo, type ReactNode } from "react";
import { pieces } from "#/lib/visible.ts";

export const glyphClass =
  "mx-0.5 inline-block rounded-[2px] bg-active px-0.75 font-mono text-[10px]/[14px] font-medium text-ink-2";

/**
 * Text that others wrote: always a text node, with what would be invisible made visible. `render`
 * shows the runs between the glyphs, such as with marked words.
 */
export const Visible = memo(function Visible({
  text,
  render,
}: {
  text: string;
  render?: (run: string) => ReactNode;
}) {
  return pieces(text).map((piece) =>
    piece.glyph ? (
      <span key={piece.start} className={glyphClass}>
        {piece.text}
      </span>
    ) : (
      <Fragment key={piece.start}>{render ? render(piece.text) : piece.text}</Fragment>
    ),
  );
});
