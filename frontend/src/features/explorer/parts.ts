/** What comes after the first rows: its code is fetched as they are shown. */
import { part } from "#/ui/part.tsx";

export const HistogramPart = part(async () => {
  const { Histogram } = await import("./histogram/Histogram.tsx");
  return { default: Histogram };
});

export const LegendPart = part(async () => {
  const { Legend } = await import("./histogram/Legend.tsx");
  return { default: Legend };
});

export const FacetSidebarPart = part(async () => {
  const { FacetSidebar } = await import("./facets/FacetSidebar.tsx");
  return { default: FacetSidebar };
});

export const FieldStatisticsPart = part(async () => {
  const { FieldStatistics } = await import("./facets/FieldStatistics.tsx");
  return { default: FieldStatistics };
});

export const FilterFormPart = part(async () => {
  const { FilterForm } = await import("./chips/FilterForm.tsx");
  return { default: FilterForm };
});

export const TimeChoicesPart = part(async () => {
  const { TimeChoices } = await import("./time/TimeChoices.tsx");
  return { default: TimeChoices };
});

const panels = () => import("./panels.ts");

export const SavedPart = part(async () => ({ default: (await panels()).SavedFlow }));
export const SharePart = part(async () => ({ default: (await panels()).ShareDialog }));
export const ExportPart = part(async () => ({ default: (await panels()).ExportDialog }));
