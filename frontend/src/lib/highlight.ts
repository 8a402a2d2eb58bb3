/** Finds the words of a query in a text that is shown, ignoring case and accents. */

/** The words that a query asks for; quotes and other syntax are not searched for here. */
export function queryWords(query: string): string[] {
  return query.split(/[\s"()*]+/u).filter((word) => word !== "" && !/^(?:AND|OR|NOT|-.*)$/.test(word));
}

/** Folds without changing the number of units, so that offsets hold. */
function fold(text: string): string {
  let out = "";
  for (const char of text) {
    const base = char
      .normalize("NFD")
      .replace(/\p{Mn}+/gu, "")
      .toLowerCase();
    out += base.length === char.length ? base : char;
  }
  return out;
}

export interface Run {
  readonly text: string;
  readonly start: number;
  readonly marked: boolean;
}

/** `part` is found within words too. */
export function highlight(text: string, words: readonly string[], part = ""): Run[] {
  const folded = fold(text);
  const whole = words
    .map(fold)
    .filter((word) => word !== "")
    .flatMap((word) => occurrences(folded, word));
  const spans = [...whole, ...parts(folded, fold(part.trim()))].toSorted((a, b) => a.start - b.start);
  const runs: Run[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    if (end <= at) continue;
    const from = Math.max(start, at);
    if (from > at) runs.push({ text: text.slice(at, from), start: at, marked: false });
    runs.push({ text: text.slice(from, end), start: from, marked: true });
    at = end;
  }
  if (at < text.length) runs.push({ text: text.slice(at), start: at, marked: false });
  return runs;
}

/** Scripts that are written without spaces: there a word has no edges. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const letter = /[\p{L}\p{N}]/u;

function parts(text: string, part: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  if (part === "") return found;
  for (let i = text.indexOf(part); i >= 0; i = text.indexOf(part, i + part.length)) {
    found.push({ start: i, end: i + part.length });
  }
  return found;
}

function occurrences(text: string, word: string): { start: number; end: number }[] {
  const found = [];
  const anywhere = unspaced.test(word);
  for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + word.length)) {
    const end = i + word.length;
    const cutsBefore = letter.test(word.charAt(0)) && letter.test(text.charAt(i - 1));
    const cutsAfter = letter.test(word.charAt(word.length - 1)) && letter.test(text.charAt(end));
    if (anywhere || !(cutsBefore || cutsAfter)) found.push({ start: i, end });
  }
  return found;
}
