/** What counts the events beside their rows, in one piece: all of it is shown at once, after them. */
export { FacetSidebar } from "./facets/FacetSidebar.tsx";
export { FieldStatistics } from "./facets/FieldStatistics.tsx";
export { Histogram } from "./histogram/Histogram.tsx";
export { Legend } from "./histogram/Legend.tsx";
