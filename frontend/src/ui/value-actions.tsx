import { createContext, useContext } from "react";
import { type Field, typed, type Value, type ValueAction } from "#/lib/search.ts";
import { Icon } from "./icons.tsx";
import { Menu, type MenuItem } from "./popover.tsx";
import { Visible } from "./visible.tsx";

export type OnValueAction = (field: Field, value: Value, action: ValueAction) => void;

/** What the page around a value can do with its field. */
export interface FieldActions {
  readonly hasColumn: (field: Field) => boolean;
  /** Why no column can be added. */
  readonly full: string | undefined;
  readonly addColumn: (field: Field) => void;
  readonly removeColumn: (field: Field) => void;
  readonly openBreakdown: (field: Field) => void;
}

/** Undefined where there is no list of events. */
export const FieldActionsContext = createContext<FieldActions | undefined>(undefined);

/** The entries of a menu on a field: none where there is no list of events. */
export function useFieldItems(field: Field): readonly MenuItem[] {
  const actions = useContext(FieldActionsContext);
  if (!actions) return [];
  const column: MenuItem = actions.hasColumn(field)
    ? { label: "Remove column", icon: "close", onSelect: () => actions.removeColumn(field) }
    : {
        label: "Add column",
        icon: "panel",
        ...(actions.full && { hint: "the list is full" }),
        onSelect: () => actions.addColumn(field),
      };
  return [
    column,
    { label: "Open breakdown", icon: "bars", key: "b", onSelect: () => actions.openBreakdown(field) },
  ];
}

export const actionLabels: Readonly<Record<ValueAction, string>> = {
  include: "Include",
  exclude: "Exclude",
  only: "Only this",
  least: "This and worse",
};

const button =
  "grid h-10 min-w-10 place-items-center rounded-1 border border-line-2 bg-raised px-1 t-11 font-medium text-ink-2 hover:bg-hover hover:text-ink max-wide:border-transparent max-wide:bg-transparent wide:h-5 wide:min-w-5";

/** The same four for every value, everywhere: include, exclude, only, more; under a finger all in the menu. */
export function ValueActions({
  field,
  value,
  onAction,
  onCopy,
  more = [],
  compact = false,
  boxed = false,
  tabbable = true,
}: {
  field: Field;
  value: Value;
  onAction: OnValueAction;
  onCopy: (value: string, what: string) => void;
  /** What else the menu has. */
  more?: readonly (readonly MenuItem[])[];
  /** Leaves out what the menu has as well. */
  compact?: boolean;
  /** It has a box of its own that includes it. */
  boxed?: boolean;
  tabbable?: boolean;
}) {
  const fieldItems = useFieldItems(field);
  const act = (action: ValueAction) => () => onAction(field, value, action);
  const { kind, text: said } = typed(value);
  const text = kind === "absent" ? "absent" : said;
  const tabIndex = tabbable ? 0 : -1;
  const named = (action: ValueAction) => {
    const label = `${actionLabels[action]}: ${field} ${text}`;
    return { title: actionLabels[action], "aria-label": label, tabIndex, onClick: act(action) };
  };
  const items: (readonly MenuItem[])[] = [
    [
      { label: actionLabels.include, icon: "plus", key: "+", onSelect: act("include") },
      { label: actionLabels.exclude, icon: "minus", key: "-", onSelect: act("exclude") },
      { label: actionLabels.only, icon: "filter", key: "o", onSelect: act("only") },
      ...(field === "severity" && kind === "string"
        ? [{ label: actionLabels.least, icon: "up" as const, onSelect: act("least") }]
        : []),
    ],
    ...(kind === "absent"
      ? []
      : [[{ label: "Copy value", icon: "copy" as const, key: "c", onSelect: () => onCopy(text, field) }]]),
    ...(fieldItems.length > 0 ? [fieldItems] : []),
    ...more,
  ];
  return (
    <span className="flex gap-1 select-none" data-value-actions>
      {!boxed && (
        <button type="button" className={`${button} max-wide:hidden`} {...named("include")}>
          <Icon name="plus" small />
        </button>
      )}
      <button type="button" className={`${button} max-wide:hidden`} {...named("exclude")}>
        <Icon name="minus" small />
      </button>
      {!compact && (
        <button type="button" className={`${button} max-wide:hidden`} {...named("only")}>
          only
        </button>
      )}
      <Menu
        label={`${field} ${text}`}
        align="end"
        heading={
          <span className="mono-11 wrap-anywhere">
            <Visible text={`${field}: ${text}`} />
          </span>
        }
        items={items}
        trigger={{
          className: button,
          title: "More",
          "aria-label": `More for ${field} ${text}`,
          tabIndex,
          children: <Icon name="dots" small />,
        }}
      />
    </span>
  );
}
