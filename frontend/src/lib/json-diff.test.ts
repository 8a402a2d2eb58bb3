import { expect, test } from "vitest";
import { diffJson } from "./json-diff.ts";
import { drain } from "./slices.ts";

const diff = (left: string, right: string) =>
  drain(diffJson(left, right))
    .filter(({ same }) => !same)
    .map(({ path, left: a, right: b }) => [path, a, b]);

test("what is spelled the same is no difference, whatever the white space and the order of keys", () => {
  expect(diff('{"a":1,"b":[true,null]}', '{ "b" : [ true , null ] , "a" : 1 }')).toEqual([]);
  expect(diff("{}", "{ }")).toEqual([]);
});

test("numbers are compared as they are spelled, beyond what a double holds", () => {
  expect(diff('{"n":9007199254740993}', '{"n":9007199254740992}')).toEqual([
    ["data.n", "9007199254740993", "9007199254740992"],
  ]);
  expect(diff('{"n":1.0}', '{"n":1}')).toEqual([["data.n", "1.0", "1"]]);
});

test("a number is not the text that looks like it, null is not absent, and an empty list is not an empty object", () => {
  expect(diff('{"a":1,"b":null,"c":[]}', '{"a":"1","c":{}}')).toEqual([
    ["data.a", "1", '"1"'],
    ["data.b", "null", undefined],
    ["data.c", "[]", "{}"],
  ]);
});

test("a repeated key counts as often as it is there", () => {
  expect(diff('{"a":1,"a":2}', '{"a":2}')).toEqual([["data.a", "1\n2", "2"]]);
});

test("elements are compared by position, and what only the right one has comes last", () => {
  expect(diff('{"l":[1,2,3],"x":0}', '{"new":1,"l":[1,3],"x":1}')).toEqual([
    ["data.l[1]", "2", "3"],
    ["data.l[2]", "3", undefined],
    ["data.x", "0", "1"],
    ["data.new", undefined, "1"],
  ]);
});

test("a value that became an object is both gone and new", () => {
  expect(diff('{"a":1}', '{"a":{"b":1}}')).toEqual([
    ["data.a", "1", undefined],
    ["data.a.b", undefined, "1"],
  ]);
});

test("keys of any spelling have a place of their own", () => {
  expect(diff('{"unit price":1,"a.b":2}', '{"unit price":2,"a":{"b":2}}').map(([path]) => path)).toEqual([
    'data."unit price"',
    'data."a.b"',
    "data.a.b",
  ]);
});

test("an empty container stands before what the other text has in it", () => {
  const filled = '{"a":[1,{"c":2}],"z":1}';
  expect(diff(filled, '{"z":2,"a":[]}').map(([path]) => path)).toEqual([
    "data.a",
    "data.a[0]",
    "data.a[1].c",
    "data.z",
  ]);
  expect(diff('{"y":1,"a":[],"z":2}', filled)).toEqual([
    ["data.y", "1", undefined],
    ["data.a", "[]", undefined],
    ["data.a[0]", undefined, "1"],
    ["data.a[1].c", undefined, "2"],
    ["data.z", "2", "1"],
  ]);
});
