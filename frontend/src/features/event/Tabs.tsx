import { type KeyboardEvent, useRef } from "react";

export interface Tab<T extends string> {
  readonly value: T;
  readonly label: string;
}

/** Tabs with one stop for the Tab key; the arrows move among them. */
export function TabList<T extends string>({
  label,
  tabs,
  value,
  onChange,
  panel,
}: {
  label: string;
  tabs: readonly Tab<T>[];
  value: T;
  onChange: (value: T) => void;
  /** Id of the panel they switch. */
  panel: string;
}) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = tabs.findIndex((tab) => tab.value === value);
    const next = (at + step + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (!tab) return;
    onChange(tab.value);
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
  };
  return (
    <div ref={list} role="tablist" aria-label={label} className="flex flex-none gap-4" onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <button
          key={tab.value}
          type="button"
          role="tab"
          aria-selected={tab.value === value}
          aria-controls={panel}
          tabIndex={tab.value === value ? 0 : -1}
          className="h-10 min-w-10 border-y-2 border-transparent t-12 font-medium text-ink-2 hover:text-ink aria-selected:border-b-accent aria-selected:text-ink wide:h-9 wide:min-w-0"
          onClick={() => onChange(tab.value)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}
