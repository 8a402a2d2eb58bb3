/** What this browser remembers. Without storage a choice lasts as long as the page. */

export type Theme = "system" | "dark" | "light";

const themeKey = "oriel.theme";
const keysKey = "oriel.single-keys";

function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Storage is off.
  }
}

export function readTheme(): Theme {
  const theme = read(themeKey);
  return theme === "dark" || theme === "light" ? theme : "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  write(themeKey, theme === "system" ? null : theme);
}

export function readSingleKeys(): boolean {
  return read(keysKey) !== "off";
}

export function writeSingleKeys(on: boolean): void {
  write(keysKey, on ? null : "off");
}

const zoneKey = "oriel.zone";

/** The zone that was chosen last, for addresses that name none. */
export function readZone(): string | undefined {
  return read(zoneKey) ?? undefined;
}

export function writeZone(zone: string | undefined): void {
  write(zoneKey, zone ?? null);
}

const facetsKey = "oriel.facets";
const histogramKey = "oriel.histogram";

/** How this browser shows the facets: which fields it keeps on top, and which it has open or closed. */
export interface FacetPrefs {
  readonly hidden: boolean;
  readonly pinned: readonly string[];
  readonly open: Readonly<Record<string, boolean>>;
}

const usualFacetPrefs: FacetPrefs = { hidden: false, pinned: ["severity"], open: {} };

export function readFacetPrefs(): FacetPrefs {
  try {
    const kept: unknown = JSON.parse(read(facetsKey) ?? "null");
    if (typeof kept !== "object" || kept === null) return usualFacetPrefs;
    const { hidden, pinned, open } = kept as Partial<Record<keyof FacetPrefs, unknown>>;
    return {
      hidden: hidden === true,
      pinned: Array.isArray(pinned) ? pinned.filter((name) => typeof name === "string") : ["severity"],
      open:
        typeof open === "object" && open !== null
          ? Object.fromEntries(Object.entries(open).filter((entry) => typeof entry[1] === "boolean"))
          : {},
    };
  } catch {
    return usualFacetPrefs;
  }
}

export function writeFacetPrefs(prefs: FacetPrefs): void {
  write(facetsKey, JSON.stringify(prefs));
}

/** Undefined where nobody chose. */
export function readHistogramShown(): boolean | undefined {
  const kept = read(histogramKey);
  return kept === null ? undefined : kept !== "off";
}

export function writeHistogramShown(shown: boolean): void {
  write(histogramKey, shown ? "on" : "off");
}
