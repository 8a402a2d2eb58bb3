/**
 * Times as the server sends them (RFC 3339 with up to nine fraction digits), shown in a named zone.
 * Fractions are cut, never rounded: an instant never moves into the next second.
 */

export const utc = "UTC";

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || utc;
}

export interface Wall {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatFor(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-u-ca-iso8601-nu-latn", {
      timeZone: zone,
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      hourCycle: "h23",
    });
    formats.set(zone, format);
  }
  return format;
}

export function wallOf(ms: number, zone: string): Wall {
  const wall = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of formatFor(zone).formatToParts(ms)) {
    if (type in wall) wall[type as keyof Wall] = Number(value);
  }
  return wall;
}

/** Not by `Date.UTC`, which reads the years 0 to 99 as of the twentieth century. */
function asUtc(wall: Wall): number {
  const date = new Date(0);
  date.setUTCFullYear(wall.year, wall.month - 1, wall.day);
  return date.setUTCHours(wall.hour, wall.minute, wall.second);
}

/** Milliseconds by which the zone's clock is ahead of UTC at an instant. */
export function offsetAt(ms: number, zone: string): number {
  const second = Math.floor(ms / 1000) * 1000;
  return asUtc(wallOf(second, zone)) - second;
}

const two = (n: number) => String(n).padStart(2, "0");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** `UTC`, or an offset such as `+05:30`. */
export function offsetLabel(ms: number, zone: string): string {
  if (zone === utc) return utc;
  const minutes = Math.round(offsetAt(ms, zone) / 60_000);
  const sign = minutes < 0 ? "−" : "+";
  return `${sign}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** Whether the clock of the zone shows this time twice, as it is set back in between. */
export function isRepeated(ms: number, zone: string): boolean {
  return zone !== utc && instantsOf(wallOf(ms, zone), zone).length > 1;
}

/** As a person may write it: `2026-10-25 02:30:00`, with the offset where the clock shows it twice. */
export function writtenTime(time: string, zone: string): string {
  const ms = Date.parse(time);
  const offset = isRepeated(ms, zone) ? offsetLabel(ms, zone).replace("−", "-") : "";
  return `${isoDay(wallOf(ms, zone))} ${clock(wallOf(ms, zone))}${/\.\d+/.exec(time)?.[0] ?? ""}${offset}`;
}

/** The fraction digits of an RFC 3339 time, cut or filled to `digits`. */
function fraction(time: string, digits: number): string {
  const sent = /\.(\d+)/.exec(time)?.[1] ?? "";
  return digits === 0 ? "" : `.${sent.slice(0, digits).padEnd(digits, "0")}`;
}

function clock(wall: Wall): string {
  return `${two(wall.hour)}:${two(wall.minute)}:${two(wall.second)}`;
}

function isoDay(wall: Wall): string {
  return `${String(wall.year).padStart(4, "0")}-${two(wall.month)}-${two(wall.day)}`;
}

const dayAndMonth = (wall: Wall) => `${wall.day} ${months[wall.month - 1]}`;

/** A time in its words; one that cannot be read, such as of a year above 9999, as it was sent. */
function told(time: string, say: (ms: number) => string): string {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? time : say(ms);
}

/** `15:02:10.982` */
export function timeOfDay(time: string, zone: string, digits = 3): string {
  return told(time, (ms) => clock(wallOf(ms, zone)) + fraction(time, digits));
}

/** Three fraction digits where the microseconds say no more, else all six. */
function tellingDigits(time: string): number {
  return /\.\d{3}(?!000)\d/.test(time) ? 6 : 3;
}

/** `2026-11-30 15:02:10.982 UTC` */
export function dateAndTime(time: string, zone: string, digits = tellingDigits(time)): string {
  return told(time, (ms) => {
    const wall = wallOf(ms, zone);
    return `${isoDay(wall)} ${clock(wall)}${fraction(time, digits)} ${offsetLabel(ms, zone)}`;
  });
}

/** A key that is equal for times of one calendar day of the zone. */
export function dayKey(time: string, zone: string): string {
  const wall = wallOf(Date.parse(time), zone);
  return `${wall.year}-${two(wall.month)}-${two(wall.day)}`;
}

/** `Monday, 30 November 2026` in short: `Monday 30 Nov 2026` */
export function dayName(time: string, zone: string): string {
  const wall = wallOf(Date.parse(time), zone);
  const weekday = weekdays[new Date(asUtc(wall)).getUTCDay()];
  return `${weekday} ${dayAndMonth(wall)} ${wall.year}`;
}

/** `30 Nov` */
export function shortDay(time: string, zone: string): string {
  return told(time, (ms) => dayAndMonth(wallOf(ms, zone)));
}

/** `28 Feb 2027` */
export function fullDay(time: string, zone: string): string {
  return told(time, (ms) => {
    const wall = wallOf(ms, zone);
    return `${dayAndMonth(wall)} ${wall.year}`;
  });
}

/** `14 Nov` of a day of the year that is now, else `14 Nov 2025`. */
export function nearDay(time: string, zone: string, now: number): string {
  return told(time, (ms) => {
    const wall = wallOf(ms, zone);
    return wall.year === wallOf(now, zone).year ? dayAndMonth(wall) : fullDay(time, zone);
  });
}

/** The day after one that is written `2027-02-28`, as it is written. */
export function nextDay(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}

/** How long ago a minute is that something happened in: `under 1 min ago`, `12 min ago`, `3 h ago`. */
export function minutesAgo(time: string, now: number): string {
  return told(time, (at) => {
    const ms = Math.max(now - at, 0);
    if (ms < 60_000) return "under 1 min ago";
    if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ago`;
    return ms < 86_400_000 ? `${Math.floor(ms / 3_600_000)} h ago` : `${Math.floor(ms / 86_400_000)} d ago`;
  });
}

/** `30 Nov 15:02:10` */
export function shortTime(time: string, zone: string): string {
  const wall = wallOf(Date.parse(time), zone);
  return `${dayAndMonth(wall)} ${clock(wall)}`;
}

const elevenMonths = 330 * 86_400_000;

/**
 * `30 Nov 14:02:11 – 15:02:11`; without an end `since 30 Nov 14:02:11`. The years are said where a
 * bound is not of this year, and where the range is so long that day and month could be of two; the
 * offsets where the clock shows a bound twice.
 */
export function rangeText(from: string, until: string | undefined, zone: string, now = Date.now()): string {
  const year = (ms: number) => wallOf(ms, zone).year;
  const start = Date.parse(from);
  const end = until === undefined ? now : Date.parse(until);
  const years = [start, end].some((ms) => year(ms) !== year(now)) || end - start > elevenMonths;
  const turned = isRepeated(start, zone) || (until !== undefined && isRepeated(end, zone));
  const offset = (time: string) => (turned ? ` ${offsetLabel(Date.parse(time), zone)}` : "");
  const full = (time: string) => {
    const wall = wallOf(Date.parse(time), zone);
    return `${dayAndMonth(wall)} ${years ? `${wall.year} ` : ""}${clock(wall)}${offset(time)}`;
  };
  if (until === undefined) return `since ${full(from)}`;
  const sameDay = dayKey(from, zone) === dayKey(until, zone);
  return `${full(from)} – ${sameDay ? timeOfDay(until, zone, 0) + offset(until) : full(until)}`;
}

/** How much later `b` is than `a`: `38 ms`, `4.1 s`, `12 min`, `3 h`, `2 d`. */
export function lag(a: string, b: string): string {
  const ms = Date.parse(b) - Date.parse(a);
  const size = Math.abs(ms);
  if (size < 1000) return `${size} ms`;
  if (size < 60_000) return `${(size / 1000).toFixed(1)} s`;
  if (size < 3_600_000) return `${Math.floor(size / 60_000)} min`;
  if (size < 86_400_000) return `${Math.floor(size / 3_600_000)} h`;
  return `${Math.floor(size / 86_400_000)} d`;
}

const units: Readonly<Record<string, { ms: number; name: string }>> = {
  s: { ms: 1000, name: "second" },
  m: { ms: 60_000, name: "minute" },
  h: { ms: 3_600_000, name: "hour" },
  d: { ms: 86_400_000, name: "day" },
  w: { ms: 7 * 86_400_000, name: "week" },
};

const relativePattern = /^-(\d{1,6})([smhdw])$/;

/** Milliseconds before now that a relative time such as `-1h` or `now` names. */
export function relative(text: string): { ms: number; name: string } | undefined {
  if (text === "now") return { ms: 0, name: "now" };
  const match = relativePattern.exec(text);
  const unit = units[match?.[2] ?? ""];
  if (!match || !unit) return undefined;
  const n = Number(match[1]);
  return { ms: n * unit.ms, name: `${n} ${unit.name}${n === 1 ? "" : "s"}` };
}

/** Of a window that ends now; others are told by their dates. */
export function windowName(from: string | undefined, until: string | undefined): string | undefined {
  const span = from === undefined ? undefined : relative(from);
  const endsNow = until === undefined || until === "now";
  return span && span.ms > 0 && endsNow ? `Last ${span.name}` : undefined;
}

export const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;
const wallPattern = /^(?:(\d{4})-(\d{1,2})-(\d{1,2}))?(?:[T ]?(\d{1,2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?)?$/;

/** What a person typed as a bound: the value for the URL and the API, or what is accepted instead. */
export type Bound =
  | {
      readonly value: string /** Of a time that the clock skips: what is taken. */;
      readonly skipped?: string | undefined;
    }
  | { readonly error: string };

export const acceptedBounds = "2026-11-30 14:05, 14:05:30, 2026-11-30T14:05:30Z, -1h (s, m, h, d, w) or now";
/** Earlier ones are slips of the hand, and calendars differ on them. */
const firstYear = 1000;

/** The whole day of now, however much of it is over; its end may be left open. */
export function isToday(
  from: string | undefined,
  until: string | undefined,
  zone: string,
  now: number,
): boolean {
  if (from === undefined || relative(from)) return false;
  const { year, month, day: today } = wallOf(now, zone);
  const midnight = { year, month, day: today, hour: 0, minute: 0, second: 0 };
  if (Date.parse(from) !== instantOf(midnight, zone)) return false;
  return until === undefined || Date.parse(until) === instantOf({ ...midnight, day: today + 1 }, zone);
}

/** Reads a bound: relative, RFC 3339, or a wall time of the zone (without a date, today's). */
export function readBound(input: string, zone: string, now: number): Bound {
  const text = input.trim();
  if (relative(text)) return { value: text };
  if (/^0\d{3}-/.test(text))
    return { error: `Years before ${firstYear} are not accepted. Accepted: ${acceptedBounds}.` };
  if (rfc3339.test(text)) {
    const time = text.toUpperCase().replace(" ", "T");
    return Number.isNaN(Date.parse(time)) ? { error: "This date does not exist." } : { value: time };
  }
  const match = wallPattern.exec(text);
  if (!match || text === "") return { error: `Accepted: ${acceptedBounds}.` };
  const today = wallOf(now, zone);
  const pick = (index: number, otherwise: number) =>
    match[index] === undefined ? otherwise : Number(match[index]);
  const dated = match[1] !== undefined;
  const wall: Wall = {
    year: dated ? pick(1, 0) : today.year,
    month: dated ? pick(2, 0) : today.month,
    day: dated ? pick(3, 0) : today.day,
    hour: pick(4, 0),
    minute: pick(5, 0),
    second: pick(6, 0),
  };
  const echo = new Date(asUtc(wall));
  const real =
    echo.getUTCMonth() === wall.month - 1 &&
    echo.getUTCDate() === wall.day &&
    wall.hour < 24 &&
    wall.minute < 60 &&
    wall.second < 60;
  if (!real) return { error: "This date or time does not exist." };
  const instant = new Date(instantOf(wall, zone)).toISOString();
  return { value: instant.replace(".000Z", `${match[7] ?? ""}Z`), skipped: skippedText(wall, zone) };
}

/**
 * The instant of a wall time. One that occurs twice, as a clock is set back, is the earlier; one that
 * is skipped is as much later as the clock was set forward.
 */
export function instantOf(wall: Wall, zone: string): number {
  const guess = asUtc(wall);
  return instantsOf(wall, zone)[0] ?? guess - offsetAt(guess - day, zone);
}

const day = 86_400_000;

/** Every instant at which the clock of the zone shows a wall time: one, two, or none. */
function instantsOf(wall: Wall, zone: string): readonly number[] {
  const guess = asUtc(wall);
  const offsets = new Set([offsetAt(guess - day, zone), offsetAt(guess + day, zone)]);
  return [...offsets]
    .map((offset) => guess - offset)
    .filter((instant) => instant + offsetAt(instant, zone) === guess)
    .toSorted((a, b) => a - b);
}

/** `02:30:00 does not exist on 29 Mar, as the clock is set forward: 03:30:00 is taken.` */
export function skippedText(wall: Wall, zone: string): string | undefined {
  if (instantsOf(wall, zone).length > 0) return undefined;
  const taken = wallOf(instantOf(wall, zone), zone);
  return `${clock(wall)} does not exist on ${dayAndMonth(wall)}, as the clock is set forward: ${clock(taken)} is taken.`;
}

/** When the zone's clock was last set to another offset between two instants, if it was. */
export function turnBetween(from: number, until: number, zone: string): number | undefined {
  if (zone === utc || offsetAt(from, zone) === offsetAt(until, zone)) return undefined;
  let before = from;
  let after = until;
  while (after - before > 1000) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(middle, zone) === offsetAt(until, zone)) after = middle;
    else before = middle;
  }
  return Math.floor(after / 1000) * 1000;
}

/** The first millisecond of the calendar day of the zone that a time lies in. */
export function dayStart(time: string, zone: string): number {
  const wall = wallOf(Date.parse(time), zone);
  return instantOf({ ...wall, hour: 0, minute: 0, second: 0 }, zone);
}

const lengths = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1000, "second"],
] as const;

const counted = (n: number, unit: string) => `${n} ${unit}${n === 1 ? "" : "s"}`;

/** A length in the largest unit that it has whole: `8 hours`, `1 minute`. */
export function lengthText(ms: number): string {
  const [size, unit] =
    lengths.find(([least], index) => ms >= (index === 0 ? 2 * least : least)) ?? lengths[3];
  return counted(Math.floor(ms / size), unit);
}

/** A length in its two largest lengths: `1 hour 30 minutes`, `1 day 1 hour`. */
export function exactLength(ms: number): string {
  let rest = Math.max(ms, 0);
  const parts: string[] = [];
  for (const [size, unit] of lengths) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) parts.push(counted(n, unit));
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ") || "0 seconds";
}
