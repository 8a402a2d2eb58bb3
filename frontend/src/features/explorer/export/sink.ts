/** Where an export goes: a file that the person chose, or the memory of the browser up to a limit. */

/** What is not on a disk yet is in memory: beyond this a browser may give up its page. */
export const memoryLimit = 256 * 1024 * 1024;

export interface Sink {
  readonly write: (chunk: Uint8Array<ArrayBuffer>) => Promise<void>;
  /** It is whole. */
  readonly done: () => Promise<void>;
  /** It was cut: what came is kept as `.partial`. Whether that was possible. */
  readonly cut: () => Promise<boolean>;
  /** It was given up: nothing is kept. */
  readonly drop: () => Promise<void>;
}

export class TooLarge extends Error {
  override readonly name = "TooLarge";
}

interface Writable {
  write: (chunk: Uint8Array<ArrayBuffer>) => Promise<void>;
  close: () => Promise<void>;
  abort: () => Promise<void>;
}

/** As browsers have it that have it at all; `move` and `remove` not all of those. */
export interface FileHandle {
  readonly name: string;
  createWritable: () => Promise<Writable>;
  move?: (name: string) => Promise<void>;
  remove?: () => Promise<void>;
}

type Picker = (options: {
  suggestedName: string;
  types: readonly { description: string; accept: Readonly<Record<string, readonly string[]>> }[];
}) => Promise<FileHandle>;

function picker(): Picker | undefined {
  const found: unknown = Reflect.get(window, "showSaveFilePicker");
  return typeof found === "function" ? (found as Picker).bind(window) : undefined;
}

/** Whether a file can be written as it comes, whatever its size. */
export function canPick(): boolean {
  return picker() !== undefined;
}

/** Asks for a file; undefined where the person changed their mind. To be called within a click. */
export async function pickFile(
  name: string,
  description: string,
  media: string,
): Promise<FileHandle | undefined> {
  const extension = name.slice(name.lastIndexOf("."));
  try {
    return await picker()?.({
      suggestedName: name,
      types: [{ description, accept: { [media]: [extension] } }],
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    throw error;
  }
}

export async function fileSink(file: FileHandle): Promise<Sink> {
  const writable = await file.createWritable();
  // Until it is closed the file is as it was: empty, or what it held before.
  const remove = async () => {
    try {
      await writable.abort();
    } catch {
      // It is closed, or failed already.
    }
    try {
      await file.remove?.();
    } catch {
      // What stays is an empty file.
    }
  };
  return {
    write: (chunk) => writable.write(chunk),
    done: () => writable.close(),
    drop: remove,
    async cut() {
      if (!file.move) {
        await remove();
        return false;
      }
      try {
        // Under its whole name it must not be for a moment with the half of its text.
        await file.move(`${file.name}.partial`);
        await writable.close();
        return true;
      } catch {
        await remove();
        return false;
      }
    },
  };
}

/** Hands a file to the browser's downloads. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // Browsers begin the download after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export function memorySink(
  name: string,
  media: string,
  save: (blob: Blob, name: string) => void = saveBlob,
  limit = memoryLimit,
): Sink {
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const take = () => {
    const blob = new Blob(parts, { type: media });
    parts = [];
    return blob;
  };
  return {
    async write(chunk) {
      if (size + chunk.length > limit) throw new TooLarge("It is larger than this page can hold.");
      size += chunk.length;
      parts.push(chunk);
    },
    async done() {
      save(take(), name);
    },
    async cut() {
      if (size === 0) return false;
      save(take(), `${name}.partial`);
      return true;
    },
    async drop() {
      parts = [];
    },
  };
}
