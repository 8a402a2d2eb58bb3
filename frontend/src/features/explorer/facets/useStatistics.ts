import { type FieldList, type FieldStatistics, listFields } from "#/api/oriel.gen.ts";
import { type Field, listParams, type Search } from "#/lib/search.ts";
import { type Box, useBox } from "../useBox.ts";
import type { Run } from "../useRun.ts";
import type { FacetRow } from "./FacetValues.tsx";
import { pickOf, statisticValue, withoutField } from "./picks.ts";

/** What the events of a search have in a field, whatever is asked of the field itself. */
export function useStatistics(run: Run, search: Search, field: Field, on = true): Box<FieldList> {
  const params = {
    ...listParams({ ...search, filters: withoutField(search.filters, field) }),
    field,
  };
  return useBox("statistics", run, params, listFields, on);
}

/** All events of the search were looked at, and not a sample of them. */
export function isWhole(statistics: FieldStatistics): boolean {
  return statistics.distinctRelation === "exact";
}

/** A share in percent; of a sample it is about that. */
export function percent(part: number, whole: number, sampled: boolean): string {
  const share = whole === 0 ? 0 : (part / whole) * 100;
  const text =
    share > 0 && share < 1 ? "< 1" : share > 99 && share < 100 ? "> 99" : Math.round(share).toString();
  return `${sampled ? "≈ " : ""}${text} %`;
}

/** The most frequent values of a field. */
export function rowsOfField(list: FieldList, statistics: FieldStatistics, search: Search): FacetRow[] {
  const { field, kinds, top } = statistics;
  const sampled = !isWhole(statistics);
  return top.map(({ value: text, count }) => {
    const value = statisticValue(text, field, kinds);
    return {
      value,
      count,
      told: sampled ? percent(count, list.sample, true) : count.toLocaleString("en"),
      share: list.sample === 0 ? 0 : Math.min(count / list.sample, 1),
      pick: pickOf(search.filters, field, value),
    };
  });
}
