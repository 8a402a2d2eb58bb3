/** A few words of which any may be chosen; none is all. */
export function StateFilter<T extends string>({
  label,
  all,
  chosen,
  onChange,
}: {
  label: string;
  all: readonly T[];
  chosen: readonly T[];
  onChange: (chosen: readonly T[]) => void;
}) {
  return (
    <fieldset
      className="m-0 inline-flex flex-none rounded-2 border border-line-2 bg-raised p-0"
      aria-label={label}
    >
      {all.map((one) => {
        const on = chosen.includes(one);
        return (
          <button
            key={one}
            type="button"
            aria-pressed={on}
            className="h-10 border-r border-line-2 px-2.5 t-12 font-medium whitespace-nowrap text-ink-2 first:rounded-l-[4px] last:rounded-r-[4px] last:border-r-0 hover:bg-hover aria-pressed:bg-accent-tint aria-pressed:text-accent wide:h-6.5 wide:px-2"
            onClick={() => onChange(all.filter((other) => (other === one ? !on : chosen.includes(other))))}
          >
            {one}
          </button>
        );
      })}
    </fieldset>
  );
}
