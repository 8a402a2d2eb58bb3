import type { EventDetail } from "#/api/oriel.gen.ts";

/** The data's bytes, as text where they are valid UTF-8. */
export interface Payload {
  readonly text: string | undefined;
  readonly bytes: () => Uint8Array;
}

export function payloadOf({ dataText, dataBase64 }: EventDetail): Payload {
  if (dataText !== undefined) return { text: dataText, bytes: () => new TextEncoder().encode(dataText) };
  return { text: undefined, bytes: () => fromBase64(dataBase64 ?? "") };
}

/** In a plain loop: a function called for each of a megabyte's bytes takes long enough to be felt. */
function fromBase64(text: string): Uint8Array {
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let i = 0; i < chars.length; i++) bytes[i] = chars.charCodeAt(i);
  return bytes;
}
