// Sends events with the JavaScript CloudEvents SDK in each content mode and prints, one JSON object a
// line, what went over the wire and what the server answered. Usage: node send.mjs URL TOKEN
import { CloudEvent, HTTP, Mode, emitterFor, httpTransport } from "cloudevents";

const [url, token] = process.argv.slice(2);
const target = `${url}/v1/events`;
const authorization = `Bearer ${token}`;
const source = "/sdk/javascript";
const time = new Date(Date.now() - 60_000).toISOString();
const say = (o) => console.log(JSON.stringify(o));

async function post(mode, headers, body) {
  const response = await fetch(target, { method: "POST", headers: { ...headers, authorization }, body });
  say({ mode, status: response.status, answer: await response.text(), headers, body });
}

const event = (id, attributes) => new CloudEvent({ id, source, time, type: "sdk.test.v1", ...attributes });
const order = { b: 1, aa: "käse", a: [true, null, { deep: "受注" }], z: 1e21 };

// Binary and structured, over the SDK's serialisers and fetch.
for (const [id, attributes] of [
  ["plain", { subject: "order 17", data: order, datacontenttype: "application/json" }],
  ["percent", { subject: "100%", data: order }],
  ["extensions", { data: order, tenant: "north", attempt: 3, dry: true }],
  ["text", { data: "first line\nsecond line", datacontenttype: "text/plain" }],
  ["nothing", { subject: "no data" }],
]) {
  for (const mode of ["binary", "structured"]) {
    const message = HTTP[mode](event(`${mode}-${id}`, attributes));
    await post(mode, message.headers, message.body);
  }
}
const bytes = event("structured-bytes", {
  data: Buffer.from([0, 1, 2, 254, 255]),
  datacontenttype: "application/octet-stream",
});
const message = HTTP.structured(bytes);
await post("structured", message.headers, message.body);

// The SDK's own transport sends Transfer-Encoding: chunked.
for (const mode of [Mode.BINARY, Mode.STRUCTURED]) {
  const emit = emitterFor(
    async (m) => {
      const answer = await httpTransport(target)({ ...m, headers: { ...m.headers, authorization } });
      say({ mode, status: 0, answer: answer.body, headers: m.headers, body: m.body });
    },
    { mode },
  );
  await emit(event(`${mode}-chunked`, { subject: "chunked", data: order }));
}

// A batch is written by hand.
const batch = [1, 2, 3].map((n) => event(`batch-${n}`, { data: { n, text: "batch" } }));
await post("batch", { "content-type": "application/cloudevents-batch+json; charset=utf-8" }, JSON.stringify(batch));
