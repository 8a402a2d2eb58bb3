import type { Search } from "#/lib/search.ts";

/** Another search that may go where this one did not. */
export interface WayOut {
  readonly label: string;
  readonly take: () => void;
}

const day = new Set([undefined, "-24h", "-1d"]);

/** The window is the last day, which is the one that holds where none is named. */
export function isLastDay({ from, until }: Pick<Search, "from" | "until">): boolean {
  return until === undefined && day.has(from);
}

/** What can be taken away from a search that found nothing or was refused. */
export function waysOut(search: Search, show: (next: Partial<Search>) => void): readonly WayOut[] {
  const ways: WayOut[] = [];
  const { filters, version } = search;
  if (filters.length > 0) {
    const label = filters.length === 1 ? "Remove the filter" : "Remove the filters";
    ways.push({ label, take: () => show({ filters: [] }) });
  }
  if (version !== undefined) {
    ways.push({ label: `Remove v=${version.slice(0, 20)}`, take: () => show({ version: undefined }) });
  }
  if (!isLastDay(search)) {
    ways.push({ label: "Last 24 hours", take: () => show({ from: undefined, until: undefined }) });
  }
  return ways;
}

const wholeValue =
  /(^|[\s(])(data(?:\.[\p{L}\p{N}_$@-]+|\[(?:\*|\d+)\])+|ext\.[a-z0-9]+|type|source|subject)[:=](?:"((?:[^"\\]|\\.)+)"|([^\s()"*=<>[{]+))(?=[\s)]|$)/gu;
const noText = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** The query with fields that have a part where it asks for whole values; undefined where it asks for none. */
export function byParts(query: string): string | undefined {
  const asked = query.replaceAll(
    wholeValue,
    (whole: string, before: string, field: string, quoted: string | undefined, bare = "") => {
      if (quoted === undefined && noText.test(bare)) return whole;
      return `${before}${field}~"${quoted ?? bare.replaceAll("\\", "\\\\")}"`;
    },
  );
  return asked === query ? undefined : asked;
}
