// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Filter } from "#/lib/search.ts";
import { completeDocument } from "#/testing.tsx";
import { FilterChips } from "../FilterChips.tsx";
import { Chip } from "./Chip.tsx";
import { nameOf } from "./words.ts";

beforeEach(() => {
  completeDocument();
  vi.stubGlobal("fetch", () =>
    Promise.resolve(Response.json({ from: 0, until: 0, suggestions: [], fields: [] })),
  );
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const on = (field: string, values: string[], more: Partial<Filter> = {}): Filter => ({
  field,
  negated: false,
  values,
  ...more,
});

describe("the words of a chip", () => {
  test.each<[string, Filter]>([
    ["type is a or b", on("type", ["a", "b"])],
    ["type is not a", on("type", ["a"], { negated: true })],
    ["tag is a and b", on("tag", ["a", "b"])],
    ["tag is not a or b", on("tag", ["a", "b"], { negated: true })],
    ["severity at least error", on("severity", ["error"])],
    ["severity is error or info", on("severity", ["error", "info"], { exact: true })],
    ["severity is not error", on("severity", ["error"], { exact: true, negated: true })],
    ["severity is below error", on("severity", ["error"], { negated: true })],
    ["data.x is null", on("data.x", ["null"])],
    ['data.x is ""', on("data.x", ['""'])],
    ["data.x is absent", on("data.x", ["*"], { negated: true })],
    ["data.x is there", on("data.x", ["*"])],
    ["type is null", on("type", ["null"])],
    ["subject is *", on("subject", ["*"])],
    ["subject is absent", on("q", ["subject:*"], { negated: true })],
    ["subject is there", on("q", ["-subject:*"], { negated: true })],
    ["query is not noise", on("q", ["noise"], { negated: true })],
    ["query is a b", on("q", ["-(a b)"], { negated: true })],
    ["data.n ≥ 5", on("q", ["-data.n>=5"], { negated: true })],
    ["data.n not < 5", on("q", ["data.n<5"], { negated: true })],
    ['subject contains a "b"', on("q", ['-subject~"a \\"b\\""'], { negated: true })],
    ['data."a b" does not contain x', on("q", ['data."a b"~"x"'], { negated: true })],
    ['data."a b"[*].c ≥ 5', on("q", ['-data."a b"[*].c>=5'], { negated: true })],
    ["query is not data.n<5 OR a", on("q", ["data.n<5 OR a"], { negated: true })],
    ["room is K, disabled, pinned", on("room", ["K"], { disabled: true, pinned: true })],
  ])("%s", (name, filter) => expect(nameOf(filter)).toBe(name));
});

function show(filter: Filter) {
  const onChange = vi.fn<(next: Filter | undefined) => void>();
  render(
    <QueryClientProvider client={new QueryClient()}>
      <Chip id="chip" filter={filter} facets={["room"]} onChange={onChange} />
    </QueryClientProvider>,
  );
  return { onChange, chip: screen.getByRole("button", { name: /^Change filter/ }) };
}

test.each<[string, Filter | undefined]>([
  ["n", on("type", ["a"], { negated: true })],
  [" ", on("type", ["a"], { disabled: true })],
  ["p", on("type", ["a"], { pinned: true })],
  ["Delete", undefined],
])("on a chip that has the focus “%s” does what its menu says", (key, next) => {
  const { onChange, chip } = show(on("type", ["a"]));
  fireEvent.keyDown(chip, { key });
  expect(onChange).toHaveBeenCalledExactlyOnceWith(next);
});

test("what its menu does is taken back by the same entry", () => {
  const { onChange, chip } = show(on("type", ["a"], { disabled: true, pinned: true }));
  fireEvent.click(chip);
  fireEvent.click(screen.getByRole("button", { name: /^Enable/, hidden: true }));
  expect(onChange).toHaveBeenLastCalledWith(on("type", ["a"], { disabled: false, pinned: true }));
});

test("a query that is excluded is turned into one that must hold, and back", () => {
  const { onChange, chip } = show(on("q", ["a b"], { negated: true }));
  fireEvent.keyDown(chip, { key: "n" });
  expect(onChange).toHaveBeenCalledWith(on("q", ["-(a b)"], { negated: true }));
});

test("another value keeps a chip disabled and pinned", async () => {
  const { onChange, chip } = show(on("data.x", ["1"], { pinned: true, disabled: true }));
  fireEvent.click(chip);
  const values = await screen.findByLabelText("Values, one on each line");
  fireEvent.keyDown(values, { key: "n" });
  fireEvent.change(values, { target: { value: '"1"\nnull\n' } });
  fireEvent.click(screen.getByRole("button", { name: "Change", hidden: true }));
  expect(onChange).toHaveBeenCalledExactlyOnceWith(
    on("data.x", ['"1"', "null"], { pinned: true, disabled: true }),
  );
});

test.each<[string, string, string, readonly string[]]>([
  ["data.x", '"two\nlines"', '"two\nlines"\nb', ['"two\nlines"', "b"]],
  ["data.x", '"a"', '"a b\n5"\n"c\n', ['"a b\n5"', '"c']],
  ["room", "two\nlines", "two\nlines", ["two\nlines"]],
  ["room", "a", 'a\n"b', ["a", '"b']],
])(
  "of %s the value %j, written over as %j, is a value for each line that begins one",
  async (field, value, text, values) => {
    const { onChange, chip } = show(on(field, [value]));
    fireEvent.click(chip);
    fireEvent.change(await screen.findByLabelText("Values, one on each line"), { target: { value: text } });
    fireEvent.click(screen.getByRole("button", { name: "Change", hidden: true }));
    expect(onChange).toHaveBeenCalledExactlyOnceWith(on(field, [...values]));
  },
);

test("a chip is turned into one on the absence of its field", async () => {
  const { onChange, chip } = show(on("subject", ["a"]));
  fireEvent.click(chip);
  fireEvent.change(await screen.findByLabelText("Asks"), { target: { value: "absent" } });
  fireEvent.click(screen.getByRole("button", { name: "Change", hidden: true }));
  expect(onChange).toHaveBeenCalledWith(on("q", ["subject:*"], { negated: true }));
});

test.each([
  ["data.n", "ge", "Number", "1e3", "-data.n>=1e3"],
  ["data.n", "lt", "Number", " -5 ", "-data.n<-5"],
  ["ext.retry", "gt", "Number", "2", "-ext.retry>2"],
  ["subject", "part", "Part of the value", 'a "b', '-subject~"a \\"b"'],
  ["subject", "noPart", "Part of the value", "b", 'subject~"b"'],
  ['data."a (b)".c', "ge", "Number", "5", '-data."a (b)".c>=5'],
  ['data."a b".c', "part", "Part of the value", "x y", '-data."a b".c~"x y"'],
])("a filter on %s compares by “%s”", async (field, sense, label, text, query) => {
  const { onChange, chip } = show(on("type", ["a"]));
  fireEvent.click(chip);
  fireEvent.change(await screen.findByLabelText("Field"), { target: { value: field } });
  fireEvent.change(screen.getByLabelText("Asks"), { target: { value: sense } });
  fireEvent.change(screen.getByLabelText(label), { target: { value: text } });
  fireEvent.click(screen.getByRole("button", { name: "Change", hidden: true }));
  expect(onChange).toHaveBeenCalledExactlyOnceWith(on("q", [query], { negated: true }));
});

test("text is no number to compare with", async () => {
  const { onChange, chip } = show(on("q", ["-data.n>=5"], { negated: true }));
  fireEvent.click(chip);
  fireEvent.change(await screen.findByLabelText("Number"), { target: { value: "five" } });
  fireEvent.click(screen.getByRole("button", { name: "Change", hidden: true }));
  expect(onChange).not.toHaveBeenCalled();
});

test("a field that there is not is refused with a reason", async () => {
  const { onChange, chip } = show(on("type", ["a"]));
  fireEvent.click(chip);
  fireEvent.change(await screen.findByLabelText("Field"), { target: { value: "tpye" } });
  const button = screen.getByRole("button", { name: "Change", hidden: true });
  fireEvent.click(button);
  expect(button.getAttribute("aria-disabled")).toBe("true");
  expect(onChange).not.toHaveBeenCalled();
});

function Stateful({ initial }: { initial: readonly Filter[] }) {
  const [filters, setFilters] = useState(initial);
  return (
    <QueryClientProvider client={new QueryClient()}>
      <FilterChips
        filters={filters}
        unknown={{}}
        covered={false}
        onChange={setFilters}
        onUnknown={() => undefined}
      />
    </QueryClientProvider>
  );
}

test.each([
  ["n", "type is not a"],
  [" ", "type is a, disabled"],
  ["p", "type is a, pinned"],
])("after “%s” the focus is on the chip that the filter is now", (key, name) => {
  render(<Stateful initial={[on("type", ["a"]), on("source", ["s"])]} />);
  const chip = screen.getByRole("button", { name: "Change filter: type is a" });
  chip.focus();
  fireEvent.keyDown(chip, { key });
  expect(document.activeElement).toBe(screen.getByRole("button", { name: `Change filter: ${name}` }));
});
