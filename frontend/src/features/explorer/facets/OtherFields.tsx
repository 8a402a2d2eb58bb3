import { listFields } from "#/api/oriel.gen.ts";
import { type Field, listParams } from "#/lib/search.ts";
import { spelled } from "#/lib/visible.ts";
import { outdatedClass } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";
import { BoxFailed } from "../BoxFailed.tsx";
import { useBox } from "../useBox.ts";
import type { Sidebar } from "./FacetSidebar.tsx";
import { WaitingValues } from "./GroupFrame.tsx";
import { isWhole, percent } from "./useStatistics.ts";

const name = "…other fields";

/** Every other field and place in the data that the newest events of the search have. */
export function OtherFields({
  shown,
  find,
  sidebar,
}: {
  /** The fields that stand above. */
  shown: readonly Field[];
  find: string;
  sidebar: Sidebar;
}) {
  const { run, search, prefs, onStatistics } = sidebar;
  const open = find !== "" || prefs.open[name] === true;
  const params = { ...listParams(search), limit: 200, ...(find !== "" && { contains: find }) };
  const box = useBox("fields", run, params, listFields, open);
  const fields = (box.data?.fields ?? []).filter(({ field }) => !shown.includes(field));
  const sample = box.data?.sample ?? 0;
  return (
    <section aria-label="Other fields" aria-busy={open && box.reading} className="pt-1 pb-3">
      <h2 className="flex h-10 items-center pr-3 pl-1.5 wide:h-6">
        <button
          type="button"
          aria-expanded={open}
          className="flex h-full cursor-default items-center gap-1 t-12 font-medium text-ink"
          onClick={() => prefs.setOpen(name, !open)}
        >
          <Icon name={open ? "down" : "right"} small className="text-ink-3" />
          Other fields
        </button>
        <span
          className="ml-auto t-11 text-ink-3"
          title="How many of the newest events of the search have the field"
        >
          {open && box.data && `of ${sample.toLocaleString("en")}`}
        </span>
      </h2>
      {open &&
        (box.error ? (
          <div className="px-3 py-1">
            <BoxFailed what="Not listed." box={box} error={box.error} onSnapshot={run.again} />
          </div>
        ) : !box.data ? (
          <WaitingValues count={5} />
        ) : (
          <ul aria-label="Other fields" className={`m-0 list-none p-0 ${box.outdated ? outdatedClass : ""}`}>
            {fields.map((statistics) => {
              const { field, present } = statistics;
              const pinned = prefs.pinned.includes(field);
              return (
                <li
                  key={field}
                  className="group/field flex h-11 items-center pr-3 pl-5.5 hover:bg-hover wide:h-6"
                >
                  <button
                    type="button"
                    className="cut h-full min-w-0 flex-1 cursor-default text-left mono-11 text-ink-2 hover:text-ink"
                    title={`Statistics of ${spelled(field)}`}
                    onClick={() => onStatistics(field)}
                  >
                    <Visible text={field} />
                  </button>
                  <button
                    type="button"
                    aria-pressed={pinned}
                    aria-label={`Keep ${field} on top`}
                    title="Show its values above"
                    className="grid size-10 flex-none place-items-center text-ink-3 hover:text-ink wide:size-6 wide:opacity-0 wide:group-hover/field:opacity-100 wide:focus-visible:opacity-100"
                    onClick={() => prefs.setPinned(field, !pinned)}
                  >
                    <Icon name="pin" small className={pinned ? "text-accent" : ""} />
                  </button>
                  <span className="w-12 flex-none text-right t-11 text-ink-3">
                    {percent(present, sample, !isWhole(statistics))}
                  </span>
                </li>
              );
            })}
            {fields.length === 0 && (
              <li className="px-3 py-1 t-11 text-ink-3">
                {find === "" ? "No other fields." : `No field with “${find}” in its name.`}
              </li>
            )}
            {box.data.more && (
              <li className="px-3 py-1 t-11 text-ink-3">There are more: find them by a part of the name.</li>
            )}
          </ul>
        ))}
    </section>
  );
}
