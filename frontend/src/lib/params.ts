/** The query of an address: reading and writing it, whatever its parameters mean. */

/** Query parameters in order of first occurrence, each with all of its values. */
export type Params = Readonly<Record<string, readonly string[]>>;

export function parseQuery(query: string): Params {
  const params: Record<string, string[]> = {};
  for (const [key, value] of new URLSearchParams(query)) {
    // A parameter of this name would meet Object.prototype.
    if (key === "__proto__") continue;
    const values = Object.hasOwn(params, key) ? params[key] : undefined;
    if (values) values.push(value);
    else params[key] = [value];
  }
  return params;
}

/** Percent-encodes what a query must not hold, and leaves readable what it may. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/%(2F|3A|2C|40)/g, (match) =>
    decodeURIComponent(match),
  );
}

export function formatQuery(params: Readonly<Record<string, unknown>>): string {
  const parts: string[] = [];
  for (const [key, values] of Object.entries(params)) {
    if (!Array.isArray(values)) continue;
    for (const value of values) {
      // Of what is merely there, such as `?new`.
      parts.push(value === "" ? encode(key) : `${encode(key)}=${encode(String(value))}`);
    }
  }
  return parts.length === 0 ? "" : `?${parts.join("&")}`;
}
