/**
 * Reads a window of time as people say it: `last monday at 3pm to now`, `yesterday`, `30 nov 14:00 - 15:00`,
 * `past 2 hours`. Days and clocks are those of a zone; weeks begin on Monday. What slides stays relative.
 */
import { instantOf, relative, rfc3339, skippedText, type Wall, wallOf } from "./time.ts";

/** Bounds for the URL and the API; without an end the window is open. */
export interface Window {
  readonly from: string;
  readonly until: string | undefined;
  /** Of a time that the clock skips: what is taken. */
  readonly skipped?: string | undefined;
}

export type ReadPhrase = Window | { readonly error: string };

export const phraseExamples = [
  "last monday at 3pm to now",
  "yesterday",
  "30 nov 14:00 - 15:00",
  "past 2 hours",
  "since 9am",
] as const;

type Day = Pick<Wall, "year" | "month" | "day">;
type Clock = Pick<Wall, "hour" | "minute" | "second"> & { readonly fraction: string };

/** A bound that was named: a moment, or whole days of which a window has all. */
type Point =
  | { readonly is: "moment"; readonly value: string }
  | { readonly is: "days"; readonly first: Day; readonly next: Day }
  | { readonly is: "clock"; readonly day: Day | undefined; readonly clock: Clock };

interface Here {
  readonly zone: string;
  readonly now: number;
  readonly today: Day;
}

export function readPhrase(input: string, zone: string, now: number): ReadPhrase {
  const text = input
    .trim()
    .toLowerCase()
    .replace(/[\s\u00a0]+/g, " ")
    .replace(/,/g, "");
  const { year, month, day } = wallOf(now, zone);
  const here: Here = { zone, now, today: { year, month, day } };
  const read = rolling(text) ?? range(text, here) ?? single(text, here);
  if (!read) return { error: "This is no time that can be read." };
  if ("error" in read || read.until === undefined) return read;
  const at = (bound: string) => now - (relative(bound)?.ms ?? now - Date.parse(bound));
  return at(read.until) > at(read.from) ? read : { error: "It ends before it begins." };
}

const units: readonly (readonly [RegExp, string])[] = [
  [/^(?:s|secs?|seconds?)$/, "s"],
  [/^(?:m|mins?|minutes?)$/, "m"],
  [/^(?:h|hrs?|hours?)$/, "h"],
  [/^(?:d|days?)$/, "d"],
  [/^(?:w|wks?|weeks?)$/, "w"],
];

function ago(count: string, unit: string): string | undefined {
  const letter = units.find(([pattern]) => pattern.test(unit))?.[1];
  const n = count === "a" || count === "an" || count === "" ? 1 : Number(count);
  if (!letter || n === 0) return /^months?$/.test(unit) ? `-${n * 30}d` : undefined;
  return `-${n}${letter}`;
}

/** Windows that end now: `past 2 hours`, `15m`, `last hour`. */
function rolling(text: string): Window | undefined {
  const [, word = "", count = "", unit = ""] =
    /^(last |past |previous |-)?(?:(\d{1,5}|an?) ?)?([a-z]+)$/.exec(text) ?? [];
  // The last week and the last month are those of the calendar; the last hour is the one that ends now.
  const calendar =
    count === "" && word !== "past " && !(word === "last " && /^(?:hour|minute|day)$/.test(unit));
  const from = calendar ? undefined : ago(count, unit);
  return from === undefined ? undefined : { from, until: undefined };
}

const joints = / (?:to|until|till|through|[-–—]|\.\.) |[–—]/;

function range(text: string, here: Here): ReadPhrase | undefined {
  const open = /^(?:since|after|from) (.+)$/.exec(text)?.[1];
  const between = /^between (.+) and (.+)$/.exec(text);
  const [first, second, more] = between ? [between[1], between[2]] : (open ?? text).split(joints);
  if (more !== undefined) return undefined;
  if (first === undefined || second === undefined) {
    const start = open === undefined ? undefined : past(point(open, here), here);
    return start && { from: beginning(start, here), until: undefined, skipped: skipped([start], here) };
  }
  const start = past(point(first, here), here);
  if (!start) return { error: `“${first}” is no time that can be read.` };
  const end = behind(start, point(second, here), here);
  if (!end) return { error: `“${second}” is no time that can be read.` };
  return { from: beginning(start, here), until: ending(end, here), skipped: skipped([start, end], here) };
}

/** Of times of day without a day it is the one that has been last. */
function past(read: Point | undefined, here: Here): Point | undefined {
  if (read?.is !== "clock" || read.day || Date.parse(beginning(read, here)) <= here.now) return read;
  return { ...read, day: addDays(here.today, -1) };
}

/** An end without a day has the start's, or the one after where it would be before it: `22:00 to 06:00`. */
function behind(start: Point, end: Point | undefined, here: Here): Point | undefined {
  if (end?.is !== "clock" || end.day) return end;
  const day = dayOf(start);
  const same = { ...end, day };
  const before =
    start.is === "clock" && Date.parse(beginning(same, here)) < Date.parse(beginning(start, here));
  return before ? { ...end, day: addDays(day ?? here.today, 1) } : same;
}

function single(text: string, here: Here): Window | undefined {
  const read = past(point(text.replace(/^on /, ""), here), here);
  // Nothing has happened since now.
  if (!read || (read.is === "moment" && read.value === "now")) return undefined;
  const from = beginning(read, here);
  // Of a day that is not over, what is stamped ahead shows as well.
  const over = read.is === "days" && instant(read.next, here) <= here.now;
  return { from, until: over ? ending(read, here) : undefined, skipped: skipped([read], here) };
}

function point(text: string, here: Here): Point | undefined {
  if (text === "now") return { is: "moment", value: "now" };
  const bound = /^now ?(-\d.*)$/.exec(text)?.[1] ?? text;
  if (relative(bound)) return { is: "moment", value: bound };
  if (rfc3339.test(text)) {
    const value = text.toUpperCase().replace(" ", "T");
    return Number.isNaN(Date.parse(value)) ? undefined : { is: "moment", value };
  }
  const [, count = "", unit = ""] = /^(\d{1,5}|an?) ?([a-z]+) ago$/.exec(text) ?? [];
  const value = unit === "" ? undefined : ago(count, unit);
  if (value) return { is: "moment", value };
  const whole = days(text, here);
  if (whole) return whole;
  const [, before = "", time = ""] =
    /^(?:(.+?) (?:at )?|at )?((?:\d{1,2}(?::\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?(?: ?[ap]m)?)|noon|midnight)$/.exec(
      text.replace(/(\d)t(?=\d)/, "$1 "),
    ) ?? [];
  const read = clock(time);
  if (!read) return undefined;
  if (before === "") return { is: "clock", day: undefined, clock: read };
  const day = days(before.trim(), here);
  return day?.is === "days" && addDays(day.first, 1).day === day.next.day
    ? { is: "clock", day: day.first, clock: read }
    : undefined;
}

function clock(text: string): Clock | undefined {
  if (text === "noon") return { hour: 12, minute: 0, second: 0, fraction: "" };
  if (text === "midnight") return { hour: 0, minute: 0, second: 0, fraction: "" };
  const match = /^(\d{1,2})(?::(\d{2})(?::(\d{2})(\.\d+)?)?)? ?([ap]m)?$/.exec(text);
  if (!match) return undefined;
  const [, hours, minutes, seconds = "0", fraction = "", half] = match;
  // A lone number is no time of day.
  if (minutes === undefined && half === undefined) return undefined;
  let hour = Number(hours);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half === "pm" ? 12 : 0);
  }
  const read = { hour, minute: Number(minutes ?? "0"), second: Number(seconds), fraction };
  return read.hour < 24 && read.minute < 60 && read.second < 60 ? read : undefined;
}

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const months = [
  ...["january", "february", "march", "april", "may", "june", "july"],
  ...["august", "september", "october", "november", "december"],
];

const named = (names: readonly string[], text: string) =>
  text.length < 3
    ? -1
    : names.findIndex((name) => name.startsWith(text) || (text === "sept" && name === "september"));

function days(text: string, here: Here): Point | undefined {
  const { today } = here;
  const span = (first: Day, count: number): Point => ({ is: "days", first, next: addDays(first, count) });
  if (text === "today") return span(today, 1);
  if (text === "yesterday") return span(addDays(today, -1), 1);
  const monday = addDays(today, -weekday(today));
  if (text === "this week") return span(monday, 7);
  if (/^(?:last|previous) week$/.test(text)) return span(addDays(monday, -7), 7);
  if (text === "this month") return monthOf(today.year, today.month);
  if (/^(?:last|previous) month$/.test(text)) return monthOf(today.year, today.month - 1);
  const [, which = "", name = ""] = /^(?:(last|this) )?([a-z]+)$/.exec(text) ?? [];
  const index = named(weekdays, name);
  if (index >= 0) {
    const back = (weekday(today) - index + 7) % 7;
    if (which === "this") return span(addDays(monday, index), 1);
    return span(addDays(today, -(which === "last" && back === 0 ? 7 : back)), 1);
  }
  const month = named(months, name) + 1;
  if (month > 0) {
    const latest = month > today.month || (which === "last" && month === today.month) ? 1 : 0;
    return monthOf(today.year - latest, month);
  }
  const day = dated(text, today);
  return day && span(day, 1);
}

/** `2026-11-30`, `30 nov`, `nov 30 2026`. */
function dated(text: string, today: Day): Day | undefined {
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text);
  if (iso) return real({ year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) });
  const match =
    /^(?<day>\d{1,2})(?:st|nd|rd|th)?\.? (?:of )?(?<month>[a-z]+)\.?(?: (?<year>\d{4}))?$/.exec(text) ??
    /^(?<month>[a-z]+)\.? (?<day>\d{1,2})(?:st|nd|rd|th)?(?: (?<year>\d{4}))?$/.exec(text);
  const { day, month = "", year } = match?.groups ?? {};
  const index = named(months, month) + 1;
  if (index === 0) return undefined;
  const wanted = { year: Number(year ?? today.year), month: index, day: Number(day) };
  // Without a year it is the one that has been.
  const ahead = year === undefined && number(wanted) > number(today);
  return real(ahead ? { ...wanted, year: wanted.year - 1 } : wanted);
}

const number = ({ year, month, day }: Day) => year * 10_000 + month * 100 + day;

function utcDay(day: Day): Date {
  const date = new Date(0);
  date.setUTCFullYear(day.year, day.month - 1, day.day);
  return date;
}

function dayFrom(date: Date): Day {
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

/** Undefined where the calendar has no such day. */
function real(day: Day): Day | undefined {
  const echo = dayFrom(utcDay(day));
  return day.year >= 1000 && number(echo) === number(day) ? day : undefined;
}

function addDays(day: Day, count: number): Day {
  return dayFrom(utcDay({ ...day, day: day.day + count }));
}

/** 0 is Monday. */
function weekday(day: Day): number {
  return (utcDay(day).getUTCDay() + 6) % 7;
}

function monthOf(year: number, month: number): Point {
  const first = dayFrom(utcDay({ year, month, day: 1 }));
  return { is: "days", first, next: dayFrom(utcDay({ year, month: month + 1, day: 1 })) };
}

function dayOf(read: Point): Day | undefined {
  if (read.is === "days") return read.first;
  return read.is === "clock" ? read.day : undefined;
}

const midnight = { hour: 0, minute: 0, second: 0 };

function instant(day: Day, { zone }: Here, at: Pick<Wall, "hour" | "minute" | "second"> = midnight): number {
  return instantOf({ ...day, ...at }, zone);
}

const written = (ms: number, fraction = "") => new Date(ms).toISOString().replace(".000Z", `${fraction}Z`);

function beginning(read: Point, here: Here): string {
  if (read.is === "moment") return read.value;
  if (read.is === "days") return written(instant(read.first, here));
  return written(instant(read.day ?? here.today, here, read.clock), read.clock.fraction);
}

function skipped(points: readonly Point[], { zone, today }: Here): string | undefined {
  for (const read of points) {
    const said = read.is === "clock" && skippedText({ ...(read.day ?? today), ...read.clock }, zone);
    if (said) return said;
  }
  return undefined;
}

/** Of whole days the last one is in the window. */
function ending(read: Point, here: Here): string {
  return read.is === "days" ? written(instant(read.next, here)) : beginning(read, here);
}
