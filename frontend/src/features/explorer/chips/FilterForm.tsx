import { useId, useState } from "react";
import {
  type ChipField,
  type Comparison,
  comparing,
  comparisonOf,
  type Field,
  type Filter,
  fields,
  filterOn,
  isField,
  isNumber,
  isPathField,
  isWrittenField,
  presenceOf,
  readValue,
} from "#/lib/search.ts";
import { isSeverity, severities } from "#/lib/severity.ts";
import { Button } from "#/ui/controls.tsx";
import { Severity } from "#/ui/severity.tsx";
import { linesOf } from "./lines.ts";
import { SeenValues } from "./SeenValues.tsx";
import { useFieldNames } from "./useFieldNames.ts";

const input = "w-full rounded-2 border border-line-3 bg-surface px-2 text-[16px]/5 wide:text-[12px]/4";

const labelled = "grid grid-cols-[48px_minmax(0,1fr)] items-center gap-2 text-ink-2";

type Sense = "is" | "not" | "least" | "below" | "absent" | "there" | "part" | "noPart" | NumberSense;
/** Comparisons of numbers. */
type NumberSense = "ge" | "gt" | "le" | "lt";

const senses: Readonly<Record<Sense, string>> = {
  is: "is",
  not: "is not",
  part: "contains",
  noPart: "does not contain",
  ge: "≥ at least",
  gt: "> more than",
  le: "≤ at most",
  lt: "< less than",
  there: "is there",
  absent: "is absent",
  least: "at least",
  below: "is below",
};

const signs: Readonly<Partial<Record<Sense, Comparison>>> = {
  part: "~",
  noPart: "~",
  ge: ">=",
  gt: ">",
  le: "<=",
  lt: "<",
};

function sensesOf(field: ChipField): readonly Sense[] {
  if (field === "severity") return ["least", "below", "is", "not", "there", "absent"];
  const numbers: readonly Sense[] = isPathField(field) ? ["ge", "gt", "le", "lt"] : [];
  return ["is", "not", "part", "noPart", ...numbers, "there", "absent"];
}

interface Draft {
  readonly field: ChipField;
  readonly sense: Sense;
  readonly text: string;
  /** The severity that is a threshold. */
  readonly level: string;
  readonly levels: readonly string[];
}

/** Of a filter that the form can say as a comparison. */
function comparedDraft(filter: Filter): Pick<Draft, "field" | "sense" | "text"> | undefined {
  const compared = comparisonOf(filter);
  if (!compared) return undefined;
  const { field, written, comparison, negated } = compared;
  if (comparison === "~") {
    return { field, sense: negated ? "noPart" : "part", text: readValue(written).text };
  }
  const sense = (Object.keys(signs) as Sense[]).find((one) => signs[one] === comparison);
  // A negated comparison of numbers holds of what is absent, too: that stays a query.
  return sense && !negated ? { field, sense, text: written } : undefined;
}

function draftOf(filter: Filter): Draft {
  const presence = presenceOf(filter);
  const { field, negated, values, exact } = filter;
  const levels = field === "severity" ? values : [];
  const level = values.find(isSeverity) ?? "error";
  const draft = { text: "", level, levels };
  const compared = comparedDraft(filter);
  if (compared) return { ...draft, ...compared };
  if (presence) return { ...draft, field: presence.field, sense: presence.absent ? "absent" : "there" };
  if (field === "severity" && !exact) return { ...draft, field, sense: negated ? "below" : "least" };
  return { ...draft, field, sense: negated ? "not" : "is", text: values.join("\n") };
}

function comparingText(field: ChipField, sign: Comparison, text: string, negated: boolean): Filter | string {
  const value = text.trim();
  if (value === "") return "Write a value first.";
  if (sign === "~") return comparing(field, sign, text, negated);
  return isNumber(value) ? comparing(field, sign, value, negated) : `“${value}” is not a number.`;
}

/** A value a line. What came with line breaks in it stays as it was until it is written over. */
function valuesOf(field: Field, text: string, initial: Filter): readonly string[] {
  if (field === initial.field && text === initial.values.join("\n")) return initial.values;
  return [...new Set(linesOf(field, text).filter((line) => line !== ""))];
}

/** What the form says, or why it says nothing yet. */
function filterOf(draft: Draft, initial: Filter, facets: readonly Field[]): Filter | string {
  const { field, sense, text, level, levels } = draft;
  const state = {
    ...(initial.disabled && { disabled: true }),
    ...(initial.pinned && { pinned: true }),
  };
  if (field !== "q" && !isField(field, [...fields, ...facets])) {
    return field === "" ? "Name a field first." : `There is no field “${field}”.`;
  }
  if (sense === "absent" || sense === "there") {
    return { ...filterOn(field, { kind: "absent", text: "" }, sense === "there"), ...state };
  }
  if (sense === "least" || sense === "below") {
    return { field, negated: sense === "below", values: [level], ...state };
  }
  if (field === "severity") {
    if (levels.length === 0) return "Choose a severity first.";
    return { field, negated: sense === "not", exact: true, values: levels, ...state };
  }
  const sign = signs[sense];
  if (sign) {
    const said = comparingText(field, sign, text, sense === "noPart");
    return typeof said === "string" ? said : { ...said, ...state };
  }
  const values = field === "q" ? [text.trim()] : valuesOf(field, text, initial);
  if (values.length === 0 || values[0] === "") return "Write a value first.";
  return { field, negated: sense === "not", values, ...state };
}

/** Any field, and what is asked of it. */
export function FilterForm({
  initial,
  facets,
  submit,
  onSubmit,
}: {
  initial: Filter;
  facets: readonly Field[];
  submit: string;
  onSubmit: (filter: Filter) => void;
}) {
  const [draft, setDraft] = useState(() => draftOf(initial));
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const { field, sense } = draft;
  const filter = filterOf(draft, initial, facets);
  const asksText = field !== "severity" && (sense === "is" || sense === "not");
  const asksOne = signs[sense] !== undefined;
  const onField = isField(field, [...fields, ...facets]) ? field : undefined;
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (typeof filter !== "string") onSubmit(filter);
      }}
    >
      {field !== "q" && (
        <>
          <FieldInput field={field} facets={facets} onField={(next) => change(moved(draft, next))} />
          <label className={labelled}>
            Asks
            <select
              value={sense}
              className={`${input} h-11 text-ink wide:h-7`}
              onChange={(event) => change({ sense: event.currentTarget.value as Sense })}
            >
              {sensesOf(field).map((value) => (
                <option key={value} value={value}>
                  {senses[value]}
                </option>
              ))}
            </select>
          </label>
        </>
      )}
      {(sense === "least" || sense === "below") && (
        <select
          value={draft.level}
          aria-label="Severity"
          className={`${input} h-11 wide:h-7`}
          onChange={(event) => change({ level: event.currentTarget.value })}
        >
          {severities.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      {field === "severity" && (sense === "is" || sense === "not") && (
        <Levels levels={draft.levels} onLevels={(levels) => change({ levels })} />
      )}
      {asksText && <Values field={field} text={draft.text} onText={(text) => change({ text })} />}
      {asksOne && <OneValue sense={sense} text={draft.text} onText={(text) => change({ text })} />}
      {asksText && onField && (
        <SeenValues field={onField} text={draft.text} onText={(text) => change({ text })} />
      )}
      <div className="flex justify-end gap-2">
        <Button type="submit" look="primary" unavailable={typeof filter === "string" ? filter : undefined}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** On another field, what is asked goes along as far as it can be asked there. */
function moved(draft: Draft, field: Field): Partial<Draft> {
  const sense = sensesOf(field).includes(draft.sense) ? draft.sense : draft.sense === "below" ? "not" : "is";
  return { field, sense };
}

function Levels({
  levels,
  onLevels,
}: {
  levels: readonly string[];
  onLevels: (levels: readonly string[]) => void;
}) {
  return (
    <fieldset className="grid grid-cols-2 gap-x-4">
      <legend className="sr-only">Severities</legend>
      {severities.map((level) => (
        <label key={level} className="flex h-10 items-center gap-2 wide:h-6">
          <input
            type="checkbox"
            className="size-3.5 accent-accent-fill"
            checked={levels.includes(level)}
            onChange={({ currentTarget: { checked } }) =>
              onLevels(severities.filter((other) => (other === level ? checked : levels.includes(other))))
            }
          />
          <Severity level={level} />
        </label>
      ))}
    </fieldset>
  );
}

function FieldInput({
  field,
  facets,
  onField,
}: {
  field: Field;
  facets: readonly Field[];
  onField: (field: Field) => void;
}) {
  const names = useId();
  const found = useFieldNames(field);
  const known = [...new Set([...fields, ...facets, "id", "trace", ...found])];
  return (
    <label className={labelled}>
      Field
      <input
        value={field}
        list={names}
        data-autofocus=""
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        placeholder="data.amount"
        className={`${input} h-11 font-mono text-ink wide:h-7`}
        onFocus={(event) => event.currentTarget.select()}
        onChange={(event) => onField(event.currentTarget.value.trim())}
      />
      <datalist id={names}>
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

function Values({ field, text, onText }: { field: ChipField; text: string; onText: (text: string) => void }) {
  const lines = text.split("\n").length;
  return (
    <label>
      <textarea
        value={text}
        rows={Math.min(Math.max(lines + 1, 3), 8)}
        spellCheck={false}
        autoCapitalize="off"
        aria-label={field === "q" ? "Query that must not hold" : "Values, one on each line"}
        className={`${input} block py-1.5 font-mono`}
        onChange={(event) => onText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
            event.currentTarget.form?.requestSubmit();
        }}
      />
      <span className="mt-1 block text-ink-3">{hintOf(field)}</span>
    </label>
  );
}

/** Of what is compared with one number, or one part. */
function OneValue({ sense, text, onText }: { sense: Sense; text: string; onText: (text: string) => void }) {
  const part = signs[sense] === "~";
  return (
    <label>
      <input
        value={text}
        aria-label={part ? "Part of the value" : "Number"}
        inputMode={part ? "text" : "decimal"}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        className={`${input} h-11 font-mono wide:h-7`}
        onChange={(event) => onText(event.currentTarget.value)}
      />
      <span className="mt-1 block text-ink-3">
        {part
          ? "Any case, accents or none; spaces and marks count."
          : "Of numbers, never of text that looks like one."}
      </span>
    </label>
  );
}

function hintOf(field: ChipField): string {
  if (field === "q") return "In the query language: words, “phrases”, field:value.";
  if (field === "tag") return "One whole tag on each line; an event must have all of them.";
  if (!isWrittenField(field)) return "One whole value on each line; any of them matches.";
  const kinds = field.startsWith("data") ? 'null, "" and "100" as text' : '"" for the empty one';
  return `One value on each line; any of them matches. Also pre*, ${kinds}.`;
}
