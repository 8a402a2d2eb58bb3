/** What the filters make of the values of a field, and what a press on a value makes of the filters. */
import type { FieldStatisticsKindsItem } from "#/api/oriel.gen.ts";
import { subjectOf } from "#/lib/filters.ts";
import {
  applyAction,
  type Field,
  type Filter,
  filterOn,
  presenceOf,
  replaceFilter,
  type Value,
} from "#/lib/search.ts";
import { andWorse, severities } from "#/lib/severity.ts";

/** A value is asked for, kept out, or neither. */
export type Pick = "in" | "out" | undefined;

const absent: Value = { kind: "absent", text: "" };

/** The value that stands for events without the field. */
export function absence(): Value {
  return absent;
}

function isAbsent(value: Value): boolean {
  return typeof value !== "string" && value.kind === "absent";
}

function inForce(filters: readonly Filter[]): readonly Filter[] {
  return filters.filter((filter) => !filter.disabled);
}

/** The filter in force that asks for the value, or keeps it out. */
function holding(filters: readonly Filter[], field: Field, value: Value, exclude: boolean) {
  const wanted = filterOn(field, value, exclude);
  return inForce(filters).find((filter) => {
    if (filter.field !== wanted.field || filter.negated !== wanted.negated) {
      const presence = isAbsent(value) ? presenceOf(filter) : undefined;
      return presence?.field === field && presence.absent !== exclude;
    }
    return filter.values.includes(wanted.values[0] ?? "");
  });
}

/** Of severities: thresholds reach to the worst, and all that is asked must hold. */
function severityPick(filters: readonly Filter[], level: string): Pick {
  const asked = inForce(filters).filter(({ field }) => field === "severity");
  const holds = ({ exact, values }: Filter) => (exact ? values : values.flatMap(andWorse)).includes(level);
  if (asked.some((filter) => filter.negated && holds(filter))) return "out";
  const wanted = asked.filter(({ negated }) => !negated);
  return wanted.length > 0 && wanted.every(holds) ? "in" : undefined;
}

/** The filters with the levels that are picked so, less one. */
function withoutLevel(filters: readonly Filter[], level: string, pick: Pick): readonly Filter[] {
  const negated = pick === "out";
  const values = severities.filter((other) => other !== level && severityPick(filters, other) === pick);
  const asked = (filter: Filter) =>
    filter.field === "severity" && filter.negated === negated && !filter.disabled;
  const pins = filters.some((filter) => asked(filter) && filter.pinned);
  return replaceFilter(
    filters.filter((filter) => !asked(filter)),
    undefined,
    { field: "severity", negated, exact: true, values, ...(pins && { pinned: true }) },
  );
}

export function pickOf(filters: readonly Filter[], field: Field, value: Value): Pick {
  if (field === "severity" && typeof value === "string") return severityPick(filters, value);
  if (holding(filters, field, value, true)) return "out";
  return holding(filters, field, value, false) ? "in" : undefined;
}

/** Without the value where it is picked, in whichever sense; else with it. */
export function toggled(filters: readonly Filter[], field: Field, value: Value): readonly Filter[] {
  const pick = pickOf(filters, field, value);
  if (pick === undefined) return applyAction(filters, field, value, "include");
  if (field === "severity" && typeof value === "string") return withoutLevel(filters, value, pick);
  const held = holding(filters, field, value, pick === "out");
  if (!held) return filters;
  const gone = filterOn(field, value, pick === "out").values[0];
  const rest = held.field === "q" ? [] : held.values.filter((other) => other !== gone);
  return replaceFilter(filters, held, rest.length === 0 ? undefined : { ...held, values: rest });
}

/** The filters as they are for the values of a field: without those on the field itself. */
export function withoutField(filters: readonly Filter[], field: Field): readonly Filter[] {
  return filters.filter((filter) => subjectOf(filter) !== field);
}

/** How many values are picked. */
export function picksOf(filters: readonly Filter[], field: Field): number {
  return inForce(filters)
    .filter((filter) => subjectOf(filter) === field)
    .reduce((sum, { values }) => sum + values.length, 0);
}

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** A value of a field's statistics, which tell numbers and the same text as one. */
export function statisticValue(
  text: string,
  field: Field,
  kinds: readonly FieldStatisticsKindsItem[],
): Value {
  if (!/^(?:data|ext)[.[]/.test(field)) return text;
  if (text === "") return { kind: "empty", text };
  if (kinds.includes("number") && jsonNumber.test(text)) return { kind: "number", text };
  if (kinds.includes("boolean") && (text === "true" || text === "false")) return { kind: "boolean", text };
  if (kinds.includes("null") && !kinds.includes("string") && text === "null") return { kind: "null", text };
  return { kind: "string", text };
}
