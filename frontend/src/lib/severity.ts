import type { Severity } from "#/api/oriel.gen.ts";

/** The worst first. */
export const severities: readonly Severity[] = [
  "emergency",
  "critical",
  "error",
  "warning",
  "notice",
  "info",
  "debug",
  "trace",
];

export function isSeverity(text: string): text is Severity {
  return (severities as readonly string[]).includes(text);
}

/** A severity and all that are worse. */
export function andWorse(level: string): readonly Severity[] {
  return isSeverity(level) ? severities.slice(0, severities.indexOf(level) + 1) : [];
}
