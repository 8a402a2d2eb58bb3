import { buttonClass } from "#/ui/controls.tsx";
import { useCopy } from "#/ui/copy.tsx";
import { Icon } from "#/ui/icons.tsx";
import { Menu } from "#/ui/popover.tsx";
import { FiltersButton } from "./facets/FieldsSlot.tsx";
import { type Panel, panelItems } from "./SearchActions.tsx";

/** In one column: what stands in a row of its own where there is room. */
export function NarrowTools({
  filters,
  fieldsOpen,
  onFields,
  onPanel,
  onColumns,
  onFind,
  histogramShown,
  onHistogram,
}: {
  /** How many there are. */
  filters: number;
  fieldsOpen: boolean;
  onFields: () => void;
  onPanel: (panel: Panel) => void;
  onColumns: () => void;
  onFind: () => void;
  histogramShown: boolean;
  onHistogram: (shown: boolean) => void;
}) {
  const copy = useCopy();
  return (
    <>
      <FiltersButton count={filters} open={fieldsOpen} onOpen={onFields} />
      <Menu
        label="More"
        align="end"
        items={[
          panelItems(onPanel),
          [
            { label: "Columns and rows", icon: "list", onSelect: onColumns },
            { label: "Find in results", icon: "search", onSelect: onFind },
            {
              label: histogramShown ? "Hide the histogram" : "Show the histogram",
              icon: "bars",
              onSelect: () => onHistogram(!histogramShown),
            },
          ],
          [
            {
              label: "Copy the address of this view",
              icon: "link",
              onSelect: () => copy(location.href, "the link"),
            },
          ],
        ]}
        trigger={{
          className: `${buttonClass("plain", "large", true)} ml-auto`,
          "aria-label": "More",
          children: <Icon name="dots" />,
        }}
      />
    </>
  );
}
