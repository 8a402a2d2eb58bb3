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
