import {
  type ChipField,
  type Comparison,
  comparisonOf,
  type Filter,
  opposite,
  presenceOf,
  readValue,
} from "#/lib/search.ts";

/** A filter in the words of its chip; what it says as an error stands out in red is `strong`. */
export interface ChipWords {
  readonly field: string;
  readonly operator: string;
  readonly values: readonly string[];
  /** What stands between the values. */
  readonly joint: "or" | "and";
  readonly strong: boolean;
}

export const fieldName = (field: ChipField) => (field === "q" ? "query" : field);

export function operatorOf({ field, negated, exact }: Pick<Filter, "field" | "negated" | "exact">): string {
  if (field === "severity" && !exact) return negated ? "is below" : "at least";
  return negated ? "is not" : "is";
}

const signs: Readonly<Record<Comparison, readonly [string, string]>> = {
  "~": ["contains", "does not contain"],
  ">=": ["≥", "not ≥"],
  ">": [">", "not >"],
  "<=": ["≤", "not ≤"],
  "<": ["<", "not <"],
};

export function wordsOf(filter: Filter): ChipWords {
  const { field, negated, values } = filter;
  const joint = field === "tag" && !negated ? "and" : "or";
  const presence = presenceOf(filter);
  if (presence) {
    const operator = presence.absent ? "is absent" : "is there";
    return { field: presence.field, operator, values: [], joint, strong: false };
  }
  const compared = comparisonOf(filter);
  if (compared) {
    const { comparison, written } = compared;
    return {
      field: compared.field,
      operator: signs[comparison][compared.negated ? 1 : 0],
      values: [comparison === "~" ? readValue(written).text : written],
      joint,
      strong: compared.negated,
    };
  }
  const [query = ""] = values;
  const back = opposite(query);
  if (field === "q" && negated && query.startsWith("-") && opposite(back) === query) {
    return { field: fieldName(field), operator: "is", values: [back], joint, strong: false };
  }
  const operator = operatorOf(filter);
  if (values.length === 1 && values[0] === "null" && field.startsWith("data")) {
    return { field, operator: `${operator} null`, values: [], joint, strong: negated };
  }
  return { field: fieldName(field), operator, values, joint, strong: negated };
}

/** The whole filter as a name. */
export function nameOf(filter: Filter): string {
  const { field, operator, values, joint } = wordsOf(filter);
  const state = [filter.disabled && "disabled", filter.pinned && "pinned"].filter(Boolean);
  const name = [field, operator, values.join(` ${joint} `)].filter(Boolean).join(" ");
  return [name, ...state].join(", ");
}
