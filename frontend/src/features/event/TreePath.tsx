import type { JsonLayout } from "#/lib/json-layout.ts";
import { stepsTo } from "#/lib/json-tree.ts";
import { Button } from "#/ui/controls.tsx";
import { Visible } from "#/ui/visible.tsx";

/** Steps of a deep path that are shown from its end. */
const shownSteps = 6;

/** Where in the data the shown part is, and the ways out of it. */
export function TreePath({
  text,
  layout,
  root,
  onFocus,
}: {
  text: string;
  layout: JsonLayout;
  root: number;
  onFocus: (line: number) => void;
}) {
  const steps = stepsTo(text, layout, root);
  const lines: number[] = [];
  for (let line = root; line >= 0 && lines.length <= shownSteps; line = layout.parent(line))
    lines.unshift(line);
  return (
    <nav
      aria-label="Place in the data"
      className="flex min-h-8 flex-wrap items-center gap-x-1 border-b border-line px-4 py-1 mono-11"
    >
      <Button look="ghost" size="small" onClick={() => onFocus(0)}>
        data
      </Button>
      {steps.length > lines.length && <span className="text-ink-3">› …</span>}
      {lines
        .filter((line) => line > 0)
        .map((line, index, all) => {
          const step = steps[steps.length - all.length + index];
          const name = <Visible text={typeof step === "number" ? `[${step}]` : (step ?? "") || '""'} />;
          return (
            <span key={line} className="flex min-w-0 items-center gap-1">
              <span className="text-ink-3">›</span>
              {line === root ? (
                <b aria-current="location" className="max-w-60 cut font-semibold">
                  {name}
                </b>
              ) : (
                <button
                  type="button"
                  className="max-w-60 cut text-accent underline underline-offset-2 max-wide:min-h-10"
                  onClick={() => onFocus(line)}
                >
                  {name}
                </button>
              )}
            </span>
          );
        })}
      <span className="flex-1" />
      <Button look="ghost" size="small" icon="close" onClick={() => onFocus(0)}>
        Show all
      </Button>
    </nav>
  );
}
