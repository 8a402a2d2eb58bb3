import { WindowChoices } from "#/ui/window-choices.tsx";
import { PhraseInput } from "./PhraseInput.tsx";

const presets = ["-15m", "-1h", "-6h", "-24h", "-7d", "-30d"] as const;

/** Every way to choose a window: in words, one that ends now, by its bounds; and the zone of all times. */
export function TimeChoices({
  from,
  until,
  usual,
  onChoose,
}: {
  from: string | undefined;
  until: string | undefined;
  /** Where the window begins if none is chosen. */
  usual: string;
  onChoose: (from: string | undefined, until: string | undefined) => void;
}) {
  return (
    <>
      <PhraseInput onChoose={onChoose} />
      <WindowChoices from={from} until={until} presets={presets} usual={usual} onChoose={onChoose} />
    </>
  );
}
