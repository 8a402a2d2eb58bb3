import { useState } from "react";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { inputClass } from "#/ui/field.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Popover } from "#/ui/popover.tsx";
import { Visible } from "#/ui/visible.tsx";
import { type AuditField, type AuditView, auditFields } from "./audit-url.ts";

/** The filters by actor, action and target, each to change and to remove where it stands. */
export function AuditChips({
  view,
  onChange,
}: {
  view: AuditView;
  onChange: (next: Partial<AuditView>) => void;
}) {
  return (
    <div role="toolbar" aria-label="Filters" className="flex min-w-0 flex-wrap items-center gap-1.5">
      {auditFields
        .filter((field) => view[field].length > 0)
        .map((field) => (
          <Chip
            key={field}
            field={field}
            values={view[field]}
            onChange={(values) => onChange({ [field]: values })}
          />
        ))}
      <AddFilter view={view} onChange={onChange} />
    </div>
  );
}

function Chip({
  field,
  values,
  onChange,
}: {
  field: AuditField;
  values: readonly string[];
  onChange: (values: readonly string[]) => void;
}) {
  const [open, setOpen] = useState(false);
  const name = `${field} is ${values.join(" or ")}`;
  return (
    <span className="inline-flex h-10 max-w-full min-w-0 items-center rounded-1 border border-line-2 bg-raised t-12 hover:border-line-3 wide:h-6">
      <Popover
        label={`Filter: ${field}`}
        open={open}
        onOpenChange={setOpen}
        trigger={{
          className:
            "-my-px flex h-10 min-w-0 items-center gap-1.25 pr-1 pl-2 whitespace-nowrap wide:my-0 wide:h-full",
          "aria-label": `Change filter: ${name}`,
          children: (
            <>
              <span className="text-ink-2">{field}</span> <span className="text-ink-3">is</span>{" "}
              <span className="max-w-80 cut mono-12 text-ink">
                <Visible text={values.join(" or ")} />
              </span>
            </>
          ),
        }}
      >
        <ValuesForm
          field={field}
          values={values}
          submit="Change"
          onSubmit={(_, next) => {
            setOpen(false);
            onChange(next);
          }}
        />
      </Popover>
      <button
        type="button"
        className="-my-px grid size-10 flex-none place-items-center text-ink-3 hover:text-ink wide:size-6"
        aria-label={`Remove filter: ${name}`}
        title="Remove"
        onClick={() => onChange([])}
      >
        <Icon name="close" small />
      </button>
    </span>
  );
}

function AddFilter({ view, onChange }: { view: AuditView; onChange: (next: Partial<AuditView>) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <Popover
      label="Add a filter"
      open={open}
      onOpenChange={setOpen}
      trigger={{
        className: `${buttonClass("ghost", "small")} border-dashed border-line-2`,
        children: (
          <>
            <Icon name="plus" small />
            Filter
          </>
        ),
      }}
    >
      <ValuesForm
        field={undefined}
        values={[]}
        submit="Add"
        onSubmit={(field, values) => {
          setOpen(false);
          onChange({ [field]: [...new Set([...view[field], ...values])] });
        }}
      />
    </Popover>
  );
}

const examples: Readonly<Record<AuditField, string>> = {
  actor: "Names as they are shown, such as admin-1",
  action: "Such as token.create, or session.* for all that begin so",
  target: "Such as tokens/7",
};

function ValuesForm({
  field: fixed,
  values,
  submit,
  onSubmit,
}: {
  field: AuditField | undefined;
  values: readonly string[];
  submit: string;
  onSubmit: (field: AuditField, values: readonly string[]) => void;
}) {
  const [field, setField] = useState<AuditField>(fixed ?? "actor");
  const [text, setText] = useState(values.join("\n"));
  const lines = [...new Set(text.split("\n").map((line) => line.trim()))].filter((line) => line !== "");
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (lines.length > 0) onSubmit(field, lines);
      }}
    >
      {fixed === undefined && (
        <select
          value={field}
          aria-label="Field"
          className={`${inputClass()} h-11 wide:h-7`}
          onChange={(event) => setField(event.currentTarget.value as AuditField)}
        >
          {auditFields.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <label>
        <textarea
          data-autofocus
          value={text}
          rows={2}
          spellCheck={false}
          autoCapitalize="off"
          aria-label="Values, one on each line"
          className={`${inputClass()} py-1.5 font-mono`}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey))
              event.currentTarget.form?.requestSubmit();
          }}
        />
        <span className="text-ink-3">One on each line; any of them matches. {examples[field]}.</span>
      </label>
      <div className="flex justify-end">
        <Button
          type="submit"
          look="primary"
          unavailable={lines.length === 0 ? "Write a value first." : undefined}
        >
          {submit}
        </Button>
      </div>
    </form>
  );
}
