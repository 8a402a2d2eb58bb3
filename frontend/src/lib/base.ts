/**
 * The path under which a proxy shows the app, such as `/oriel`: empty at the root. The server writes
 * it into the page from its public URL, as nothing in a browser tells it from a path of the app's own.
 */
export function basePath(): string {
  if (typeof document === "undefined") return "";
  const written = document.querySelector<HTMLMetaElement>('meta[name="oriel-base"]')?.content ?? "";
  const trimmed = written.replace(/\/+$/, "");
  return /^\/(?!\/)/.test(trimmed) ? trimmed : "";
}

/** A path of ours as the browser must ask for it. */
export function underBase(path: string): string {
  return `${basePath()}${path}`;
}

/** The path within the app, escapes and all, of one that the browser has. */
export function withoutBase(path: string): string {
  const base = basePath();
  if (base === "") return path;
  if (path === base) return "/";
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path;
}

/** Where the browser is, as sign-in takes it to come back: path, query and fragment within the app. */
export function here(location: Pick<Location, "pathname" | "search" | "hash"> = window.location): string {
  return `${withoutBase(location.pathname)}${location.search}${location.hash}`;
}

/** A path within the app, or `/` for what would lead out of it or into sign-in itself. */
export function safeReturn(path: string | undefined): string {
  if (path === undefined || !/^\/(?![/\\])/.test(path)) return "/";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return "/";
  return /^\/(auth|v1|sign-in|signed-out)(?=[/?#]|$)/.test(path) ? "/" : path;
}

/** Begins a sign-in that comes back to a path within the app. */
export function signInUrl(path: string): string {
  return underBase(`/auth/sign-in?return=${encodeURIComponent(safeReturn(path).toWellFormed())}`);
}
