/** What comes after the first rows. */
import { part } from "#/ui/part.tsx";

const beside = () => import("./beside.ts");

export const HistogramPart = part(async () => ({ default: (await beside()).Histogram }));
export const LegendPart = part(async () => ({ default: (await beside()).Legend }));
export const FacetSidebarPart = part(async () => ({ default: (await beside()).FacetSidebar }));
export const FieldStatisticsPart = part(async () => ({ default: (await beside()).FieldStatistics }));

const asked = () => import("./asked.ts");

export const FilterFormPart = part(async () => ({ default: (await asked()).FilterForm }));
export const TimeChoicesPart = part(async () => ({ default: (await asked()).TimeChoices }));
export const ColumnsPanelPart = part(async () => ({ default: (await asked()).ColumnsPanel }));
export const DiffPart = part(async () => ({ default: (await asked()).DiffDialog }));

/** Fetches all of that ahead of its need. */
export function preloadAsked(): void {
  for (const one of [FilterFormPart, TimeChoicesPart, ColumnsPanelPart, DiffPart]) one.preload();
}

const panels = () => import("./panels.ts");

export const SavedPart = part(async () => ({ default: (await panels()).SavedFlow }));
export const SharePart = part(async () => ({ default: (await panels()).ShareDialog }));
export const ExportPart = part(async () => ({ default: (await panels()).ExportDialog }));
