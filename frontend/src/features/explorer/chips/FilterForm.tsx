import { useId, useState } from "react";
import {
  type ChipField,
  type Field,
  type Filter,
  fields,
  filterOn,
  isField,
  isWrittenField,
  presenceOf,
} from "#/lib/search.ts";
import { Button, Segments } from "#/ui/controls.tsx";
import { severities } from "#/ui/severity.tsx";
import { useFieldNames } from "./useFieldNames.ts";
import { operatorOf } from "./words.ts";

const input = "w-full rounded-2 border border-line-3 bg-surface px-2 text-[16px]/5 wide:text-[12px]/4";

type Sense = "is" | "not" | "absent" | "there";

interface Draft {
  readonly field: ChipField;
  readonly sense: Sense;
  readonly text: string;
  readonly level: string;
}

function draftOf(filter: Filter): Draft {
  const presence = presenceOf(filter);
  const level = filter.field === "severity" ? (filter.values[0] ?? "error") : "error";
  if (presence) {
    return { field: presence.field, sense: presence.absent ? "absent" : "there", text: "", level };
  }
  const { field, negated, values } = filter;
  return { field, sense: negated ? "not" : "is", text: values.join("\n"), level };
}

/** What the form says, or why it says nothing yet. */
function filterOf(draft: Draft, initial: Filter, facets: readonly Field[]): Filter | string {
  const { field, sense, text, level } = draft;
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
  const lines = [...new Set(text.split("\n").filter((line) => line !== ""))];
  const values = field === "severity" ? [level] : field === "q" ? [text.trim()] : lines;
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
  const asksValue = sense === "is" || sense === "not";
  const senses: readonly { value: Sense; label: string; title?: string }[] = [
    { value: "is", label: operatorOf({ field, negated: false }) },
    { value: "not", label: operatorOf({ field, negated: true }) },
    { value: "absent", label: "absent", title: "Events that do not have the field" },
    { value: "there", label: "there", title: "Events that have the field, whatever its value" },
  ];
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
          <FieldInput field={field} facets={facets} onField={(next) => change({ field: next })} />
          <span>
            <Segments
              label="Sense"
              value={sense}
              options={senses}
              onChange={(next) => change({ sense: next })}
            />
          </span>
        </>
      )}
      {asksValue && field === "severity" && (
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
      {asksValue && field !== "severity" && (
        <Values field={field} text={draft.text} onText={(text) => change({ text })} />
      )}
      <div className="flex justify-end gap-2">
        <Button type="submit" look="primary" unavailable={typeof filter === "string" ? filter : undefined}>
          {submit}
        </Button>
      </div>
    </form>
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
    <label className="grid grid-cols-[48px_minmax(0,1fr)] items-center gap-2 text-ink-2">
      Field
      <input
        value={field}
        list={names}
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

function hintOf(field: ChipField): string {
  if (field === "q") return "In the query language: words, “phrases”, field:value.";
  if (field === "tag") return "One whole tag on each line; an event must have all of them.";
  if (!isWrittenField(field)) return "One whole value on each line; any of them matches.";
  const kinds = field.startsWith("data") ? 'null, "" and "100" as text' : '"" for the empty one';
  return `One value on each line; any of them matches. Also pre*, ${kinds}.`;
}
