/** The pages of Admin, in one piece: they share most of their code. */
export { AuditPage } from "./AuditPage.tsx";
export { TokensPage } from "./TokensPage.tsx";
