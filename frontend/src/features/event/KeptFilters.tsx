import { asQuery, type Filter } from "#/lib/search.ts";
import { Icon } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";

/** The filters of the search that one came from. Switched off, or what happened around would be hidden. */
export function KeptFilters({
  filters,
  on,
  onTurn,
}: {
  filters: readonly Filter[];
  on: readonly Filter[];
  onTurn: (index: number) => void;
}) {
  return (
    <ul aria-label="Filters of the search" className="flex flex-wrap items-center gap-1.5 px-4 pb-2">
      <li className="t-12 text-ink-3">Filters of the search:</li>
      {filters.map((filter, index) => {
        const active = on.includes(filter);
        // The words of the query stand as they were typed.
        const text = filter.field === "q" && !filter.negated ? (filter.values[0] ?? "") : asQuery(filter);
        return (
          <li key={text} className="max-w-full min-w-0">
            <button
              type="button"
              aria-pressed={active}
              title={
                active
                  ? "Holds here too. Press to switch it off."
                  : "Switched off here. Press to switch it on."
              }
              className={`flex h-10 max-w-full items-center gap-1.5 rounded-1 border px-2 t-12 hover:bg-hover wide:h-6 ${
                active ? "border-line-2 text-ink" : "border-dashed border-line-2 text-ink-3"
              }`}
              onClick={() => onTurn(index)}
            >
              <Icon name={active ? "filter" : "eyeOff"} small />
              <span className={`min-w-0 cut mono-11 ${active ? "" : "line-through"}`}>
                <Visible text={text} />
              </span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
