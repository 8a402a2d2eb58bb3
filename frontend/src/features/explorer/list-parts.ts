/** Parts of the list that are asked for: their code comes then. */
import { part } from "#/ui/part.tsx";

export const ColumnsPanelPart = part(async () => {
  const { ColumnsPanel } = await import("./columns/ColumnsPanel.tsx");
  return { default: ColumnsPanel };
});

export const DiffPart = part(async () => {
  const { DiffDialog } = await import("./diff/DiffDialog.tsx");
  return { default: DiffDialog };
});
