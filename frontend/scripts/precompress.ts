// Writes a .br and a .gz beside every text file of the build, for the server to send as they are.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const dist = "frontend/dist";
const compressible = new Set([".html", ".js", ".css", ".svg", ".json", ".txt"]);
/** Below this a compressed copy saves no packet. */
const smallest = 1024;

const brotli = promisify(brotliCompress);
const gz = promisify(gzip);

for (const entry of await readdir(dist, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (!entry.isFile() || !compressible.has(extname(entry.name))) continue;
  const bytes = await readFile(path);
  if (bytes.length < smallest) continue;
  const quality = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const [br, gzipped] = await Promise.all([brotli(bytes, { params: quality }), gz(bytes, { level: 9 })]);
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gzipped)]);
}
