import type { ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";

/** What stands where there is nothing to list: the fact, why, and the ways on. */
export function Blank({
  icon,
  heading,
  headingLevel: Heading = "h2",
  children,
}: {
  icon: IconName;
  heading: string;
  headingLevel?: "h1" | "h2" | "h3";
  children: ReactNode;
}) {
  return (
    <div className="grid content-center justify-items-center gap-2 p-6 text-center t-12 text-balance text-ink-2">
      <Icon name={icon} className="size-6 text-ink-3" />
      <Heading className="t-13 font-semibold text-ink">{heading}</Heading>
      {children}
    </div>
  );
}
