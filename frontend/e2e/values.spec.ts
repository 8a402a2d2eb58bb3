// Whatever stands in an event can be acted on: what the page makes of it is a query that the server
// reads, and that finds the event (or, excluding, does not).
import {
  applyAction,
  condition,
  dataField,
  emptySearch,
  type Field,
  listParams,
  type Step,
  type TypedValue,
} from "../src/lib/search.ts";
import { type Api, expect, test, uniqueWord } from "./fixtures.ts";

const texts = [
  ...[
    "plain",
    "two words",
    "100",
    "-1",
    "1e5",
    "true",
    "null",
    "*",
    "a*",
    "-x",
    "OR",
    "a OR b",
    "(a",
    'say "hi"',
  ],
  ...[
    "back\\slash\\",
    '\\"',
    "tab\tline\n",
    "<b>",
    ">=5",
    "~x",
    "a:b",
    "a=b&c",
    "%20+",
    "漢字",
    "é",
    "e\u0301",
    "😀",
  ],
  ...["\u0000", "\u200b", "\u2028", "\ufffd", "x".repeat(1024), "ü".repeat(3000)],
];
const numbers = [
  "0",
  "-0",
  "100",
  "1e2",
  "-1.50",
  "9007199254740993",
  "1E+400",
  `0.${"1".repeat(80)}`,
  "7".repeat(1500),
];
const names = [
  "plain",
  "two words",
  "a.b",
  'q"q',
  "b\\s",
  "a=b",
  "a!",
  "größe",
  "",
  "[0]",
  "*",
  "data",
  "漢",
];

interface Case {
  readonly steps: readonly Step[];
  readonly json: string;
  readonly value: TypedValue;
}

const cases: readonly Case[] = [
  ...texts.map((text) => ({
    steps: ["v"],
    json: JSON.stringify(text),
    value: { kind: "string", text } as const,
  })),
  ...numbers.map((text) => ({ steps: ["v"], json: text, value: { kind: "number", text } as const })),
  { steps: ["v"], json: "true", value: { kind: "boolean", text: "true" } },
  { steps: ["v"], json: "null", value: { kind: "null", text: "null" } },
  { steps: ["v"], json: '""', value: { kind: "empty", text: "" } },
];

test("each value of the data", async ({ api }) => {
  const word = uniqueWord();
  for (const { steps, json, value } of cases) await check(api, word, dataField(steps), `"v":${json}`, value);
});

test("a value under each name, in arrays too", async ({ api }) => {
  const word = uniqueWord();
  const value: TypedValue = { kind: "string", text: "x" };
  for (const name of names) {
    await check(api, word, dataField(["m", name]), `"m":{${JSON.stringify(name)}:"x"}`, value);
  }
  await check(api, word, dataField(["m", 1]), '"m":["y","x"]', value);
  await check(api, word, dataField(["m", { any: true }, "n"]), '"m":[{},{"n":"x"}]', value);
});

test("a field that is absent, of the data and of the event", async ({ api }) => {
  const word = uniqueWord();
  const value: TypedValue = { kind: "absent", text: "" };
  for (const field of ["data.v", "ext.v", "subject", "severity", "room", "tag", "dataschema"]) {
    await check(api, word, field, '"u":1', value);
  }
});

let count = 0;

async function check(
  api: Api,
  prefix: string,
  field: Field,
  member: string,
  value: TypedValue,
): Promise<void> {
  const word = `${prefix.slice(0, 20)}${String.fromCharCode(97 + (count % 26), 97 + Math.floor(count / 26))}`;
  count++;
  await api.send({ body: `{${member},"w":"${word}"}` });
  const told = `${field} ${value.kind} ${value.text.slice(0, 40)}`;
  const include = applyAction([], field, value, "include");
  const exclude = applyAction([], field, value, "exclude");
  expect(await api.count({ ...listParams({ ...emptySearch, query: word, filters: include }) }), told).toBe(1);
  expect(await api.count({ ...listParams({ ...emptySearch, query: word, filters: exclude }) }), told).toBe(0);
  expect(await api.count({ q: [`${word} ${condition(field, value)}`] }), told).toBe(1);
}
