import { type ReactNode, useId } from "react";
import type { Field } from "#/lib/search.ts";
import { spelled } from "#/lib/visible.ts";
import { Icon } from "#/ui/icons.tsx";
import { Visible } from "#/ui/visible.tsx";

const small =
  "grid size-10 flex-none place-items-center rounded-1 text-ink-3 hover:bg-active hover:text-ink wide:-mx-px wide:size-6 wide:focus-visible:opacity-100 wide:group-hover/field:opacity-100";

/** One field of the sidebar: its name opens and closes it. */
export function GroupFrame({
  field,
  open,
  pinned,
  picks,
  label,
  labelTitle,
  reading,
  onOpen,
  onPinned,
  onStatistics,
  children,
}: {
  field: Field;
  open: boolean;
  pinned: boolean;
  /** How many of its values are picked. */
  picks: number;
  /** `exact`, or of how many events the counts are. */
  label: string | undefined;
  labelTitle: string | undefined;
  reading: boolean;
  onOpen: (open: boolean) => void;
  onPinned: (pinned: boolean) => void;
  onStatistics: () => void;
  children: ReactNode;
}) {
  const body = useId();
  return (
    <section aria-label={field} aria-busy={reading} className="border-b border-line pt-1 pb-1.5">
      <h2 className="group/field flex h-10 items-center gap-0.5 pr-3 pl-1.5 wide:h-6">
        <button
          type="button"
          aria-expanded={open}
          aria-controls={open ? body : undefined}
          className="flex h-full min-w-0 cursor-default items-center gap-1 t-12 font-medium text-ink max-wide:min-w-10"
          title={spelled(field)}
          onClick={() => onOpen(!open)}
        >
          <Icon name={open ? "down" : "right"} small className="text-ink-3" />
          <span className="cut">
            <Visible text={field} />
          </span>
          {!open && picks > 0 && (
            <span className="rounded-full bg-accent-tint px-1.5 t-11 text-accent">{picks}</span>
          )}
        </button>
        <button
          type="button"
          aria-pressed={pinned}
          aria-label={`Keep ${field} on top`}
          title={pinned ? "No longer keep on top" : "Keep on top"}
          className={`${small} ${pinned ? "" : "wide:opacity-0"}`}
          onClick={() => onPinned(!pinned)}
        >
          <Icon name="pin" small className={pinned ? "text-accent" : ""} />
        </button>
        <button
          type="button"
          aria-label={`Statistics of ${field}`}
          title="Statistics of the field"
          className={`${small} wide:opacity-0`}
          onClick={onStatistics}
        >
          <Icon name="bars" small />
        </button>
        <span className="ml-auto cut t-11 text-ink-3" title={labelTitle}>
          {open && label}
        </span>
      </h2>
      {open && <div id={body}>{children}</div>}
    </section>
  );
}

/** As high as the values will be. */
export function WaitingValues({ count }: { count: number }) {
  return (
    <div role="status" aria-label="Counting">
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike
        <div key={index} className="flex h-11 items-center gap-2 px-3 wide:h-6">
          <span className="size-3.5 rounded-[3px] border border-line-2" />
          <span className="h-2 rounded-1 bg-active" style={{ width: `${70 - index * 9}%` }} />
        </div>
      ))}
    </div>
  );
}
