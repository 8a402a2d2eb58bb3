import type { Histogram } from "#/api/oriel.gen.ts";
import type { Field, Search } from "#/lib/search.ts";
import { isSeverity } from "#/lib/severity.ts";
import { spelled } from "#/lib/visible.ts";
import { Button, buttonClass } from "#/ui/controls.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Menu } from "#/ui/popover.tsx";
import { SeverityMark } from "#/ui/severity.tsx";
import { actionLabels, type OnValueAction } from "#/ui/value-actions.tsx";
import { Visible } from "#/ui/visible.tsx";
import type { Box } from "../useBox.ts";
import { type Series, seriesOf } from "./geometry.ts";
import { Swatch } from "./Swatch.tsx";
import { splitOf, unsplit } from "./useHistogram.ts";

export interface LegendProps {
  readonly box: Box<Histogram>;
  readonly search: Search;
  /** The fields that bars can be split by. */
  readonly fields: readonly Field[];
  readonly shown: boolean;
  readonly onShown: (shown: boolean) => void;
  readonly onSplit: (split: Field | undefined) => void;
  readonly onAction: OnValueAction;
}

/** What the colours of the bars mean, how many events they are, and how the bars are made. */
export function Legend({ box, search, fields, shown, onShown, onSplit, onAction }: LegendProps) {
  const split = splitOf(search);
  const layers = shown && box.data && !box.error ? seriesOf(box.data).toReversed() : [];
  return (
    <span className="flex flex-1 items-center gap-1 max-wide:hidden">
      {/* Those that have no room wrap below the line, out of sight. */}
      <span className="flex h-6 flex-1 flex-wrap items-center justify-end overflow-hidden contain-inline-size">
        {layers.map((layer) => (
          <Entry key={layer.label} layer={layer} field={box.data?.splitBy} onAction={onAction} />
        ))}
      </span>
      {shown && (
        <Menu
          label="Split the bars by"
          align="end"
          heading="Split the bars by"
          items={[
            fields.map((field) => ({
              label: field,
              checked: field === split,
              onSelect: () => onSplit(field === "severity" ? undefined : field),
            })),
            [{ label: "Not split", checked: split === undefined, onSelect: () => onSplit(unsplit) }],
          ]}
          trigger={{
            className: `${buttonClass("ghost", "small")} t-11`,
            title: `The bars are ${split === undefined ? "not split" : `split by ${spelled(split)}`}`,
            children: (
              <>
                <Icon name="bars" small />
                <span className="max-w-30 cut @max-[600px]/strip:sr-only">
                  <Visible
                    text={split === "severity" ? "Split" : split === undefined ? "Not split" : `by ${split}`}
                  />
                </span>
                <Icon name="down" small />
              </>
            ),
          }}
        />
      )}
      <Button
        look="ghost"
        size="small"
        icon={shown ? "up" : "down"}
        aria-expanded={shown}
        aria-label={shown ? "Hide the histogram" : "Show the histogram"}
        title={shown ? "Hide the histogram" : "Show the histogram"}
        onClick={() => onShown(!shown)}
      />
    </span>
  );
}

function Entry({
  layer,
  field,
  onAction,
}: {
  layer: Series;
  field: Field | undefined;
  onAction: OnValueAction;
}) {
  const { value, label, total } = layer;
  const inside = (
    <>
      {field === "severity" && value !== undefined && isSeverity(value) ? (
        <SeverityMark level={value} />
      ) : (
        <Swatch layer={layer} />
      )}
      <span className="max-w-30 cut @max-[1000px]/strip:sr-only">
        <Visible text={label} />
      </span>{" "}
      {/* Room for most numbers, so that another one moves nothing. */}
      <span className="min-w-[4ch] tabular-nums">{total.toLocaleString("en")}</span>
    </>
  );
  const look = "flex flex-none items-center gap-1 rounded-1 px-1 t-11 whitespace-nowrap text-ink-2";
  if (value === undefined || field === undefined) {
    return (
      <span
        className={look}
        title={`${spelled(label)}: ${total.toLocaleString("en")}. Not one value, so no filter.`}
      >
        {inside}
      </span>
    );
  }
  const does = `${actionLabels.include}: ${field} ${value}`;
  return (
    <button
      type="button"
      className={`${look} h-6 hover:bg-hover hover:text-ink`}
      title={`${spelled(label)}: ${total.toLocaleString("en")}. ${spelled(does)}`}
      onClick={() => onAction(field, value, "include")}
    >
      {inside}
      <span className="sr-only"> events. {spelled(does)}</span>
    </button>
  );
}
