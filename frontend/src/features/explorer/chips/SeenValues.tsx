import { useQuery } from "@tanstack/react-query";
import { listFields } from "#/api/oriel.gen.ts";
import { type Field, isWrittenField, typed, writtenValue } from "#/lib/search.ts";
import { Visible } from "#/ui/visible.tsx";
import { statisticValue } from "../facets/picks.ts";
import { useSettled } from "../facets/useSettled.ts";
import { linesOf } from "./lines.ts";

const shown = 6;

/** Values that the newest events have, to be taken for one of the lines. */
export function SeenValues({
  field,
  text,
  onText,
}: {
  field: Field;
  text: string;
  onText: (text: string) => void;
}) {
  // Each is a sample of the events: not one for every letter of a path.
  const asked = useSettled(field);
  const { data } = useQuery({
    queryKey: ["seen-values", asked],
    queryFn: ({ signal }) => listFields({ field: asked }, { signal }),
    staleTime: 30_000,
    retry: false,
  });
  const lines = text.split("\n");
  const last = lines.at(-1) ?? "";
  const taken = new Set(linesOf(field, text));
  const fits = (value: string) => linesOf(field, value).length === 1;
  const statistics = asked === field ? data?.fields[0] : undefined;
  const values = (statistics?.top ?? [])
    .map(({ value }) => statisticValue(value, field, statistics?.kinds ?? []))
    .map((value) => (isWrittenField(field) ? writtenValue(field, value) : typed(value).text))
    .filter((value) => value !== "" && fits(value) && !taken.has(value))
    .filter((value) => value.toLowerCase().includes(last.toLowerCase()))
    .slice(0, shown);
  if (values.length === 0) return null;
  const take = (value: string) => onText([...lines.slice(0, -1), value, ""].join("\n"));
  return (
    <div>
      <span className="text-ink-3">Seen in the newest events</span>
      <ul aria-label={`Values of ${field}`} className="-mx-1 mt-0.5">
        {values.map((value) => (
          <li key={value}>
            <button
              type="button"
              className="h-10 w-full cut rounded-2 px-1 text-left mono-12 hover:bg-hover wide:h-6"
              onClick={() => take(value)}
            >
              <Visible text={value} />
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
