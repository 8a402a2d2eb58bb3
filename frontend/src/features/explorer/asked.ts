/** What opens when it is asked for, in one piece: it is fetched before that, when the browser is idle. */
export { FilterForm } from "./chips/FilterForm.tsx";
export { ColumnsPanel } from "./columns/ColumnsPanel.tsx";
export { DiffDialog } from "./diff/DiffDialog.tsx";
export { TimeChoices } from "./time/TimeChoices.tsx";
