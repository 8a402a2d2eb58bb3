import { Fragment, type Ref } from "react";
import { type Token, type TokenKind, tokens } from "#/lib/query-tokens.ts";
import type { Mistake } from "./faults.ts";

const colours: Readonly<Record<TokenKind, string>> = {
  word: "text-ink",
  field: "text-accent",
  operator: "text-syn-op",
  mark: "text-ink-3",
  text: "text-syn-string",
  number: "text-syn-number",
  space: "",
};

interface Piece {
  readonly start: number;
  readonly text: string;
  readonly kind: TokenKind;
  readonly wrong: boolean;
}

/** Tokens, cut where a mistake begins and ends. */
function pieces(all: readonly Token[], mistakes: readonly Mistake[]): Piece[] {
  return all.flatMap(({ kind, start, text }) => {
    const end = start + text.length;
    const cuts = mistakes.flatMap((mistake) => [mistake.start, mistake.end]);
    const edges = [start, ...cuts.filter((cut) => cut > start && cut < end), end];
    const points = [...new Set(edges)].toSorted((a, b) => a - b);
    return points.slice(0, -1).map((from, index) => {
      const until = points[index + 1] ?? end;
      const wrong = mistakes.some((mistake) => mistake.start < until && mistake.end > from);
      return { start: from, text: text.slice(from - start, until - start), kind, wrong };
    });
  });
}

const wavy = "underline decoration-error decoration-wavy decoration-1 underline-offset-3";

/** The query in colours, exactly below the transparent letters of the input. */
export function Paint({
  ref,
  text,
  facets,
  mistakes,
}: {
  ref: Ref<HTMLDivElement>;
  text: string;
  facets: readonly string[];
  mistakes: readonly Mistake[];
}) {
  // A mistake at the very end, where something is missing, has no letter to stand below.
  const behind = mistakes.some(({ end, start }) => end > text.length || start >= text.length);
  return (
    <div
      ref={ref}
      aria-hidden="true"
      data-paint=""
      className="peer pointer-events-none min-w-0 overflow-hidden font-mono text-[16px]/5 whitespace-pre select-none wide:text-[13px]/5 forced-colors:hidden"
    >
      {/* What a single line of text shows of tabs and the like are spaces. */}
      <span className="flex h-full items-center">
        <span>
          {pieces(tokens(text, facets), mistakes).map((piece) => (
            <Fragment key={piece.start}>
              <span className={`${colours[piece.kind]} ${piece.wrong ? wavy : ""}`}>{piece.text}</span>
            </Fragment>
          ))}
          {behind && <span className={wavy}>{"\u00a0"}</span>}
        </span>
      </span>
    </div>
  );
}
