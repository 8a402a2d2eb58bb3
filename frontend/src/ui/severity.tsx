import type { Severity as Level } from "#/api/oriel.gen.ts";

/** Every severity has a shape and its full word, the one that a query takes. */
const shapes = {
  ring: <circle cx="6" cy="6" r="3.25" fill="none" stroke="currentColor" strokeWidth="1.5" />,
  disc: <circle cx="6" cy="6" r="4" />,
  triangle: <path d="M6 1.5 11 10.5H1z" />,
  diamond: <path d="M6 .75 11.25 6 6 11.25.75 6z" />,
  octagon: (
    <>
      <path d="M3.75 1h4.5L11 3.75v4.5L8.25 11h-4.5L1 8.25v-4.5z" />
      <path d="M3.5 6h5" className="stroke-surface" strokeWidth="1.75" />
    </>
  ),
};

const looks: Readonly<Record<Level, { shape: keyof typeof shapes; mark: string; word: string }>> = {
  trace: { shape: "ring", mark: "text-debug", word: "text-debug" },
  debug: { shape: "ring", mark: "text-debug", word: "text-debug" },
  info: { shape: "disc", mark: "text-info", word: "text-ink-2" },
  notice: { shape: "disc", mark: "text-info", word: "text-ink-2" },
  warning: { shape: "triangle", mark: "text-warning", word: "text-warning" },
  error: { shape: "diamond", mark: "text-error", word: "text-error" },
  critical: { shape: "octagon", mark: "text-critical", word: "text-critical font-semibold" },
  emergency: { shape: "octagon", mark: "text-critical", word: "text-critical font-semibold" },
};

/** The shape alone, where the word stands elsewhere. */
export function SeverityMark({ level }: { level: Level }) {
  const { shape, mark } = looks[level];
  return (
    <svg aria-hidden="true" viewBox="0 0 12 12" className={`size-3 flex-none fill-current ${mark}`}>
      {shapes[shape]}
    </svg>
  );
}

export function Severity({ level }: { level: Level | undefined }) {
  if (level === undefined)
    return (
      <span className="text-ink-3" title="No severity">
        —
      </span>
    );
  return (
    <span className="flex items-center gap-1.5 whitespace-nowrap t-12">
      <SeverityMark level={level} />
      <span className={looks[level].word}>{level}</span>
    </span>
  );
}
