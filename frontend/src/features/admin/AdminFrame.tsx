import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect } from "react";
import type { Params } from "#/lib/search.ts";
import { utc } from "#/lib/time.ts";
import { useZone } from "#/ui/zone.tsx";

const pages = [
  { to: "/admin/tokens", label: "Tokens" },
  { to: "/admin/audit", label: "Audit" },
] as const;

/** What the pages of Admin have around them. */
export function AdminFrame({ page, children }: { page: "Tokens" | "Audit"; children: ReactNode }) {
  const zone = useZone();
  const search: Params = zone === utc ? {} : { zone: [zone] };
  useEffect(() => {
    document.title = `${page} · Oriel`;
  }, [page]);
  return (
    <main className="relative flex min-h-0 flex-1 flex-col gap-3 overflow-auto px-4 pt-3 pb-6 *:flex-none wide:pt-4">
      <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-2">
        <h1 className="flex-1 t-16">Admin</h1>
        <nav
          aria-label="Admin"
          className="inline-flex rounded-2 border border-line-2 bg-raised max-wide:w-full"
        >
          {pages.map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              search={search}
              activeOptions={{ includeSearch: false }}
              activeProps={{ className: "bg-accent-tint text-accent" }}
              inactiveProps={{ className: "text-ink-2 hover:bg-hover" }}
              className="flex h-10 items-center border-r border-line-2 px-3 t-12 font-medium first:rounded-l-[4px] last:rounded-r-[4px] last:border-r-0 max-wide:flex-1 max-wide:justify-center wide:h-6.5 wide:px-2.5"
            >
              {label}
            </Link>
          ))}
        </nav>
      </div>
      {children}
    </main>
  );
}

export function Panel({
  heading,
  count,
  tools,
  children,
}: {
  heading: string;
  /** How many there are, in the room of one line. */
  count: ReactNode;
  tools?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={heading} className="min-w-0 rounded-3 border border-line bg-surface">
      <header className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line py-1.5 pr-3 pl-4">
        <h2 className="t-13 font-semibold">{heading}</h2>
        <span role="status" className="min-w-fit flex-1 t-12 whitespace-nowrap text-ink-3">
          {count}
        </span>
        {tools}
      </header>
      {children}
    </section>
  );
}
