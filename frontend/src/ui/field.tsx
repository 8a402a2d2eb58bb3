import { type ComponentProps, type ReactNode, useId } from "react";
import { Icon } from "./icons.tsx";

const box =
  "w-full rounded-2 border bg-surface px-2 text-[16px]/5 text-ink placeholder:text-ink-3 wide:text-[12px]/4";

/** The classes of what is typed into. */
export function inputClass(fault?: string): string {
  return `${box} ${fault === undefined ? "border-line-3" : "border-error"}`;
}

/** What ties a control to its label, hint and fault. */
export interface Tied {
  readonly id: string;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
}

/** A labelled control with a hint below it, and in the hint's place what is wrong. */
export function Field({
  label,
  optional = false,
  hint,
  fault,
  children,
}: {
  label: string;
  optional?: boolean;
  hint?: ReactNode;
  fault: string | undefined;
  children: (tied: Tied) => ReactNode;
}) {
  const id = useId();
  const below = useId();
  const says = fault !== undefined || hint !== undefined;
  return (
    <div className="grid content-start gap-1 t-12">
      <label htmlFor={id} className="font-medium">
        {label}
        {optional && <span className="font-normal text-ink-3"> optional</span>}
      </label>
      {children({ id, "aria-describedby": says ? below : undefined, "aria-invalid": fault !== undefined })}
      {says && <Below id={below} hint={hint} fault={fault} />}
    </div>
  );
}

/** The same for several controls that are one choice. */
export function FieldSet({
  label,
  hint,
  fault,
  children,
}: {
  label: string;
  hint?: ReactNode;
  fault: string | undefined;
  children: ReactNode;
}) {
  const below = useId();
  return (
    <fieldset
      className="m-0 grid min-w-0 content-start gap-1 p-0 t-12"
      aria-describedby={fault !== undefined || hint !== undefined ? below : undefined}
      // Where the focus goes if it is what must be changed.
      data-fault={fault === undefined ? undefined : ""}
    >
      <legend className="mb-1 font-medium">{label}</legend>
      {children}
      {(fault !== undefined || hint !== undefined) && <Below id={below} hint={hint} fault={fault} />}
    </fieldset>
  );
}

function Below({ id, hint, fault }: { id: string; hint: ReactNode; fault: string | undefined }) {
  if (fault === undefined) {
    return (
      <p id={id} className="text-ink-3">
        {hint}
      </p>
    );
  }
  return (
    <p id={id} className="flex gap-1 text-error">
      <Icon name="alert" small className="mt-0.5" />
      <span className="min-w-0 wrap-anywhere">{fault}</span>
    </p>
  );
}

/** A line of text to find things by. */
export function SearchInput({
  label,
  className = "",
  ...rest
}: Omit<ComponentProps<"input">, "type" | "aria-label"> & { label: string }) {
  return (
    <span
      className={`flex h-11 min-w-0 items-center gap-1.5 rounded-2 border border-line-3 bg-surface px-2 focus-within:border-focus focus-within:outline-1 focus-within:outline-focus wide:h-7 ${className}`}
    >
      <Icon name="search" small className="text-ink-3" />
      <input
        {...rest}
        type="search"
        aria-label={label}
        placeholder={label}
        autoComplete="off"
        spellCheck={false}
        className="min-w-0 flex-1 self-stretch bg-transparent text-[16px]/5 outline-none placeholder:text-ink-3 wide:text-[12px]/4"
      />
    </span>
  );
}

/** Puts the focus on the first control that must be changed. */
export function focusFault(form: HTMLElement | null): void {
  const first = form?.querySelector<HTMLElement>('[aria-invalid="true"], [data-fault]');
  const control = first?.matches("fieldset") ? first.querySelector<HTMLElement>("input, button") : first;
  control?.focus();
}
