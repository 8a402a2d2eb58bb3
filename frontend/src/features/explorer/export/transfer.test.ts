import { afterEach, describe, expect, it, vi } from "vitest";
import { refused } from "#/testing.tsx";
import { fileSink, memorySink, TooLarge } from "./sink.ts";
import { transfer } from "./transfer.ts";

const encoder = new TextEncoder();
const lines = ['{"header":{}}\n', '{"id":"1"}\n', '{"id":"2"}\n'];
const trailer = '{"trailer":{"complete":true,"count":2}}\n';

/** An answer in pieces, whose connection may break. */
function answer(pieces: readonly string[], broken = false): Response {
  let at = 0;
  return new Response(
    new ReadableStream({
      pull(controller) {
        const piece = pieces[at++];
        if (piece !== undefined) controller.enqueue(encoder.encode(piece));
        else if (broken) controller.error(new TypeError("network error"));
        else controller.close();
      },
    }),
  );
}

function memory(limit?: number) {
  const saved: { name: string; blob: Blob }[] = [];
  const sink = memorySink(
    "events.ndjson",
    "application/x-ndjson",
    (blob, name) => saved.push({ name, blob }),
    limit,
  );
  return { sink, saved };
}

async function run(
  response: Response,
  sink: ReturnType<typeof memory>["sink"],
  signal = new AbortController().signal,
) {
  vi.stubGlobal("fetch", async () => response);
  return await transfer("/v1/events:export", "ndjson", sink, signal, () => undefined);
}

afterEach(() => vi.unstubAllGlobals());

describe("an export", () => {
  it("that comes to its end is a file, byte for byte", async () => {
    const { sink, saved } = memory();
    expect(await run(answer([...lines, trailer]), sink)).toMatchObject({ kind: "whole", events: 2 });
    expect(saved.map(({ name }) => name)).toEqual(["events.ndjson"]);
    expect(await saved[0]?.blob.text()).toBe([...lines, trailer].join(""));
  });

  it.each([
    ["whose connection breaks", answer(lines, true)],
    ["without a trailer", answer(lines)],
    ["whose trailer says why", answer([...lines, '{"trailer":{"complete":false,"count":2,"reason":"X"}}\n'])],
  ])("%s is kept as .partial alone", async (_, response) => {
    const { sink, saved } = memory();
    expect(await run(response, sink)).toMatchObject({ kind: "cut", kept: true, events: 2 });
    expect(saved.map(({ name }) => name)).toEqual(["events.ndjson.partial"]);
  });

  it("that is larger than memory may hold is cut and says so", async () => {
    const { sink, saved } = memory(20);
    const outcome = await run(answer([...lines, trailer]), sink);
    expect(outcome).toMatchObject({ kind: "cut", error: expect.any(TooLarge) });
    expect(saved.map(({ name }) => name)).toEqual(["events.ndjson.partial"]);
  });

  it("that is given up leaves nothing", async () => {
    const { sink, saved } = memory();
    const control = new AbortController();
    const response = new Response(
      new ReadableStream({
        start(stream) {
          stream.enqueue(encoder.encode(lines[0]));
          control.signal.addEventListener("abort", () => stream.error(control.signal.reason));
          setTimeout(() => control.abort());
        },
      }),
    );
    expect(await run(response, sink, control.signal)).toMatchObject({ kind: "cancelled" });
    expect(saved).toEqual([]);
  });

  it("that cannot begin fails and leaves nothing", async () => {
    const { sink, saved } = memory();
    await expect(run(refused(503, "SEARCH_BUSY"), sink)).rejects.toMatchObject({ reason: "SEARCH_BUSY" });
    expect(saved).toEqual([]);
  });
});

describe("the file of an export", () => {
  function file(can: { move?: boolean }) {
    const did: string[] = [];
    const handle = {
      name: "events.ndjson",
      createWritable: async () => ({
        write: async () => void did.push("write"),
        close: async () => void did.push("close"),
        abort: async () => void did.push("abort"),
      }),
      ...(can.move !== undefined && {
        move: async (name: string) => {
          if (!can.move) throw new DOMException("no", "NotAllowedError");
          did.push(`move ${name}`);
        },
      }),
      remove: async () => void did.push("remove"),
    };
    return { handle, did };
  }

  it.each([
    [
      "can be renamed is .partial before it has its text",
      { move: true },
      true,
      ["move events.ndjson.partial", "close"],
    ],
    ["must not be renamed is removed", { move: false }, false, ["abort", "remove"]],
    ["cannot be renamed is removed", {}, false, ["abort", "remove"]],
  ])("that is cut and %s", async (_, can, kept, expected) => {
    const { handle, did } = file(can);
    const sink = await fileSink(handle);
    expect(await sink.cut()).toBe(kept);
    expect(did).toEqual(expected);
  });

  it("that is given up is removed", async () => {
    const { handle, did } = file({ move: true });
    await (await fileSink(handle)).drop();
    expect(did).toEqual(["abort", "remove"]);
  });
});
