/** What is done with a search as a whole, in one piece: who opens one of them often opens another. */
export { ExportDialog } from "./export/ExportDialog.tsx";
export { SavedFlow } from "./saved/SavedFlow.tsx";
export { ShareDialog } from "./share/ShareDialog.tsx";
