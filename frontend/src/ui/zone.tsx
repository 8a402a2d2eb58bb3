import { createContext, type ReactNode, useContext, useMemo } from "react";
import { utc } from "#/lib/time.ts";

interface Zone {
  /** The time zone of every time shown, an IANA name. */
  readonly zone: string;
  readonly setZone: (zone: string) => void;
}

const ZoneContext = createContext<Zone>({ zone: utc, setZone: () => undefined });

export function ZoneProvider({ zone, setZone, children }: Zone & { children: ReactNode }) {
  const value = useMemo(() => ({ zone, setZone }), [zone, setZone]);
  return <ZoneContext value={value}>{children}</ZoneContext>;
}

export function useZone(): string {
  return useContext(ZoneContext).zone;
}

export function useZoneSwitch(): Zone {
  return useContext(ZoneContext);
}
