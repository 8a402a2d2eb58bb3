/** Buttons and the small pieces that stand beside them. */
import type { ComponentProps, ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";
import { useTip } from "./useTip.tsx";

type Look = "plain" | "primary" | "danger" | "ghost";
type Size = "small" | "normal" | "large";

const looks: Readonly<Record<Look, string>> = {
  plain: "border-line-2 bg-raised text-ink hover:bg-hover aria-disabled:border-line aria-disabled:bg-sunken",
  primary:
    "border-accent-fill bg-accent-fill text-on-accent hover:bg-accent-fill-hover font-semibold aria-disabled:border-line aria-disabled:bg-sunken",
  danger:
    "border-danger-fill bg-danger-fill text-on-danger font-semibold aria-disabled:border-line aria-disabled:bg-sunken",
  ghost: "border-transparent text-ink-2 hover:bg-hover hover:text-ink aria-disabled:bg-transparent",
};

const sizes: Readonly<Record<Size, string>> = {
  small: "h-10 px-2.5 wide:h-6 wide:px-2",
  normal: "h-10 px-2.5 wide:h-7",
  large: "h-10 px-3 wide:h-8 short:h-8",
};

const square: Readonly<Record<Size, string>> = {
  small: "size-10 wide:size-6 justify-center",
  normal: "size-10 wide:size-7 justify-center",
  large: "size-10 wide:size-8 short:size-8 justify-center",
};

/** The classes of a button, for links and menu triggers that look like one. */
export function buttonClass(look: Look = "plain", size: Size = "normal", onlyIcon = false): string {
  const shape = onlyIcon ? square[size] : sizes[size];
  return `inline-flex flex-none items-center gap-1.5 rounded-2 border t-12 font-medium whitespace-nowrap select-none transition-colors duration-75 ease-ui cursor-default aria-disabled:text-ink-off ${looks[look]} ${shape}`;
}

interface ButtonProps extends Omit<ComponentProps<"button">, "disabled"> {
  look?: Look;
  size?: Size;
  icon?: IconName;
  /** Why the button cannot be used now. It keeps its focus and says so. */
  unavailable?: string | undefined;
}

export function Button({
  look = "plain",
  size = "normal",
  icon,
  unavailable,
  className = "",
  children,
  onClick,
  title,
  type = "button",
  ...rest
}: ButtonProps) {
  const { props, tip, show } = useTip(unavailable);
  const off = unavailable !== undefined;
  return (
    <>
      <button
        {...rest}
        {...props}
        type={type}
        className={`${buttonClass(look, size, children === undefined)} ${className}`}
        aria-disabled={off ? true : undefined}
        title={off ? undefined : title}
        onClick={
          off
            ? (event) => {
                // Of a form that must not be sent now.
                event.preventDefault();
                show(event.currentTarget);
              }
            : onClick
        }
      >
        {icon && <Icon name={icon} className={children === undefined ? "" : "-ml-0.5"} />}
        {children}
      </button>
      {tip}
    </>
  );
}

/** Of an earlier answer: paler, and still read with ease, so that words are not faded by opacity. */
export const outdatedClass = "[&_*]:text-ink-3! [&_svg]:opacity-60";

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-block min-w-4.5 rounded-1 border border-line-2 bg-surface px-1 text-center font-sans text-[11px]/[14px] font-medium text-ink-2">
      {children}
    </kbd>
  );
}

type BadgeLook = "plain" | "outline" | "accent" | "warning" | "error";

const badges: Readonly<Record<BadgeLook, string>> = {
  plain: "bg-active text-ink-2",
  outline: "text-ink-2 inset-ring inset-ring-line-2",
  accent: "bg-accent-tint text-accent",
  warning: "bg-warning-tint text-warning",
  error: "bg-error-tint text-error",
};

export function Badge({
  look = "plain",
  title,
  children,
}: {
  look?: BadgeLook;
  title?: string;
  children: ReactNode;
}) {
  return (
    <span
      title={title}
      className={`inline-flex h-4.5 flex-none items-center gap-1 rounded-1 px-1.5 t-11 font-medium whitespace-nowrap ${badges[look]}`}
    >
      {children}
    </span>
  );
}

/** A choice of few, all of them in sight. */
export function Segments<T extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: T;
  options: readonly { value: T; label: string; title?: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <fieldset
      className="m-0 inline-flex flex-none justify-self-start rounded-2 border border-line-2 bg-raised p-0"
      aria-label={label}
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          title={option.title}
          aria-pressed={option.value === value}
          className="h-10 min-w-10 border-r border-line-2 px-2.5 wide:min-w-0 whitespace-nowrap t-12 font-medium text-ink-2 first:rounded-l-[4px] last:rounded-r-[4px] last:border-r-0 hover:bg-hover aria-pressed:bg-accent-tint aria-pressed:text-accent wide:h-5.5 wide:px-2"
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}

type NoteLook = "plain" | "accent" | "info" | "warning" | "error";

const notes: Readonly<Record<NoteLook, { box: string; icon: string; name: IconName }>> = {
  plain: { box: "bg-sunken", icon: "text-ink-3", name: "info" },
  accent: { box: "bg-accent-tint", icon: "text-accent", name: "check" },
  info: { box: "bg-info-tint", icon: "text-info", name: "info" },
  warning: { box: "bg-warning-tint", icon: "text-warning", name: "alert" },
  error: { box: "bg-error-tint", icon: "text-error", name: "alert" },
};

/** The bold fact first, the consequence second, codes in mono last, the action at the end. */
export function Note({
  look,
  fact,
  codes,
  actions,
  flush = false,
  children,
}: {
  look: NoteLook;
  fact?: ReactNode;
  codes?: string | undefined;
  actions?: ReactNode;
  flush?: boolean;
  children?: ReactNode;
}) {
  const { box, icon, name } = notes[look];
  return (
    <div
      className={`flex gap-2 px-3 py-2 t-12 text-ink ${flush ? "" : "rounded-2"} ${box}`}
      role={look === "error" ? "alert" : undefined}
    >
      <Icon name={name} className={icon} />
      <div className="min-w-0 flex-1 wrap-anywhere">
        {fact && <b className="font-semibold">{fact}</b>} {children}
        {codes && <div className="mt-1.5 mono-11 text-ink-2">{codes}</div>}
        {actions && <div className="mt-2 flex flex-wrap gap-2">{actions}</div>}
      </div>
    </div>
  );
}

export function Skeleton({ width }: { width: string }) {
  return <span aria-hidden="true" className="block h-2 rounded-1 bg-active" style={{ width }} />;
}
