import { expect, test } from "vitest";
import { findZone } from "./zone-choice.tsx";

const zones = ["America/Argentina/Buenos_Aires", "Asia/Calcutta", "Asia/Tokyo", "Europe/Berlin"];

const names: Readonly<Record<string, string | undefined>> = {
  Tokyo: "Asia/Tokyo",
  tokyo: "Asia/Tokyo",
  buenos_aires: "America/Argentina/Buenos_Aires",
  "europe/berlin": "Europe/Berlin",
  "asia/kolkata": "Asia/Kolkata",
  kolkata: "Asia/Kolkata",
  Atlantis: undefined,
  "": undefined,
};

for (const [name, zone] of Object.entries(names)) {
  test(`"${name}" is ${zone ?? "no zone"}`, () => {
    expect(findZone(name, zones)).toBe(zone);
  });
}
