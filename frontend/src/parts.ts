/** The parts of the app whose code comes apart from the frame's. */
import { part } from "#/ui/part.tsx";

export const ExplorerPart = part(async () => {
  const { Explorer } = await import("#/features/explorer/Explorer.tsx");
  return { default: Explorer };
});

export const DrawerPart = part(() => import("#/features/event/EventDrawer.tsx"));

export const EventPagePart = part(async () => {
  const { EventPage } = await import("#/features/event/EventPage.tsx");
  return { default: EventPage };
});

export const KeyHelpPart = part(async () => {
  const { KeyHelp } = await import("#/features/shell/KeyHelp.tsx");
  return { default: KeyHelp };
});

const access = () => import("#/features/shell/Access.tsx");

export const SignInPart = part(async () => ({ default: (await access()).SignInPage }));
export const SignInHerePart = part(async () => ({ default: (await access()).SignInHere }));
export const SignedOutPart = part(async () => ({ default: (await access()).SignedOutPage }));
export const NoRolePart = part(async () => ({ default: (await access()).NoRole }));
export const RoleTooLowPart = part(async () => ({ default: (await access()).RoleTooLow }));

const admin = () => import("#/features/admin/pages.ts");

export const TokensPart = part(async () => ({ default: (await admin()).TokensPage }));
export const AuditPart = part(async () => ({ default: (await admin()).AuditPage }));

export const OverviewPart = part(async () => {
  const { OverviewPage } = await import("#/features/overview/OverviewPage.tsx");
  return { default: OverviewPage };
});
