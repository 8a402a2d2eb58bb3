/** Names of events: `{source}:{id}`, every byte of either outside `A-Za-z0-9-._~` percent-encoded. */
import { underBase } from "./base.ts";

const prefix = "events/";

function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function eventName(source: string, id: string): string {
  return `${escaped(source)}:${escaped(id)}`;
}

/** The name without the collection in front. */
export function shortName(resource: string): string {
  return resource.startsWith(prefix) ? resource.slice(prefix.length) : resource;
}

/** Source and id of a name; undefined where it is none. */
export function parseEventName(name: string): { source: string; id: string } | undefined {
  const colon = name.indexOf(":");
  if (colon < 0) return undefined;
  try {
    return {
      source: decodeURIComponent(name.slice(0, colon)),
      id: decodeURIComponent(name.slice(colon + 1)),
    };
  } catch {
    return undefined;
  }
}

/**
 * A name from an address, where escapes may be missing, as it stands in a path: never with a slash or dots that
 * would lead to another one. What is no name stays none.
 */
export function nameInPath(name: string): string {
  const parsed = parseEventName(name);
  if (parsed) return eventName(parsed.source, parsed.id);
  return escaped(name).replace(/^\.{1,2}$/, "$&:");
}

/** The page of an event, for the browser. The name is already escaped for a path. */
export function eventPath(name: string): string {
  return underBase(`/events/${name}`);
}
