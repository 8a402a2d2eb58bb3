import { Fragment, memo, type ReactNode } from "react";
import { pieces } from "#/lib/visible.ts";

const glyphClass =
  "mx-0.5 inline-block rounded-[2px] bg-active px-0.75 font-mono text-[0px]/[0px] font-medium whitespace-pre text-ink-2 before:text-[10px]/[14px] before:content-[attr(data-glyph)]";

/**
 * The name of a character in a box. The character itself is in the page with no size, so that what is
 * copied is the text and not the name; the box keeps what it does to directions to itself.
 */
export function Glyph({ name, char, ...source }: { name: string; char: string } & SourceOf) {
  return (
    <span className={glyphClass} data-glyph={name} {...source}>
      {char}
    </span>
  );
}

/** Where in a text the shown piece comes from. */
interface SourceOf {
  readonly "data-start"?: number;
  readonly "data-units"?: number;
}

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
      <Glyph key={piece.start} name={piece.text} char={text.slice(piece.start, piece.start + piece.units)} />
    ) : (
      <Fragment key={piece.start}>{render ? render(piece.text) : piece.text}</Fragment>
    ),
  );
});
