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
