// @vitest-environment jsdom
import { afterEach, expect, test } from "vitest";
import { readFacetLines, writeFacetLines } from "./prefs.ts";

afterEach(() => localStorage.clear());

test("lines of facets are remembered by field, and what is no number of lines is not taken", () => {
  writeFacetLines("type", 3);
  writeFacetLines("severity", 8);
  writeFacetLines("type", 4);
  expect(readFacetLines()).toEqual({ type: 4, severity: 8 });
  localStorage.setItem("oriel.facet-lines", '{"type":-1,"source":1e9,"subject":"x","room":2}');
  expect(readFacetLines()).toEqual({ room: 2 });
  localStorage.setItem("oriel.facet-lines", "[broken");
  expect(readFacetLines()).toEqual({});
});
