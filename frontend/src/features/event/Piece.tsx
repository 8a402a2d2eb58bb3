import type { CodeDocument, Fragment, FragmentKind } from "#/lib/code.ts";
import { Badge } from "#/ui/controls.tsx";
import { Glyph } from "#/ui/visible.tsx";

export const colours: Readonly<Record<FragmentKind, string>> = {
  text: "",
  key: "text-ink-2",
  string: "text-syn-string",
  number: "text-syn-number",
  literal: "text-syn-op",
  punct: "text-ink-3",
  glyph: "",
  escape: "rounded-[2px] bg-active text-ink-2",
  dim: "text-ink-3",
  // Its character stays in the text, to be copied.
  break: "text-ink-3 before:content-[attr(data-glyph)]",
  duplicate: "",
  exact: "",
  more: "",
};

/** A piece of a row; what it holds of the source can be selected and copied as such. */
export function Piece({
  fragment,
  slice,
  onMore,
  inTree = false,
}: {
  fragment: Fragment;
  slice: CodeDocument["slice"];
  onMore?: ((line: number) => void) | undefined;
  /** A tree has nothing but items: what else can be pressed is in the menu of its item as well. */
  inTree?: boolean;
}) {
  const { kind, text, start, units } = fragment;
  if (kind === "duplicate") {
    return (
      <span className="ml-2 select-none">
        <Badge
          look="warning"
          title="This key occurs more than once in its object. Raw has every one, and a search finds each."
        >
          {text}
        </Badge>
      </span>
    );
  }
  if (kind === "exact") {
    return (
      <span className="ml-2 select-none">
        <Badge look="outline" title="A double cannot hold this number; it is shown as received.">
          {text}
        </Badge>
      </span>
    );
  }
  if (kind === "more" && inTree) {
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: the menu of the item has it as well
      // biome-ignore lint/a11y/useKeyWithClickEvents: as above
      <span
        className="ml-2 t-12 text-accent underline underline-offset-2 select-none"
        onClick={() => onMore?.(units)}
      >
        {text}
      </span>
    );
  }
  if (kind === "more") {
    return (
      <button
        type="button"
        className="ml-2 t-12 text-accent underline underline-offset-2 select-none"
        onClick={() => onMore?.(units)}
      >
        {text}
      </button>
    );
  }
  if (kind === "glyph")
    return <Glyph name={text} char={slice(start, start + units)} data-start={start} data-units={units} />;
  if (kind === "break") {
    return (
      <span className={colours[kind]} data-glyph={text} data-start={start} data-units={units}>
        {"\n"}
      </span>
    );
  }
  if (start < 0) return <span className={colours[kind]}>{text}</span>;
  return (
    <span className={colours[kind]} data-start={start} data-units={units}>
      {text}
    </span>
  );
}
