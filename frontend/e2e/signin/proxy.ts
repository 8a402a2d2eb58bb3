// A proxy that speaks TLS to browsers and plain HTTP to the program, under a path of its own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request as ask } from "node:http";
import { createServer, type Server } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class TlsProxy {
  /** Whether the program sees paths without ours in front, as many proxies are set up. */
  strips = false;
  readonly url: string;
  private readonly server: Server;

  private constructor(server: Server, url: string) {
    this.server = server;
    this.url = url;
  }

  static async to(port: number, path: string): Promise<TlsProxy> {
    const server = createServer(certificate());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const proxy = new TlsProxy(server, `https://127.0.0.1:${address.port}${path}`);
    server.on("request", (request, response) => {
      const asked = request.url ?? "/";
      if (asked !== path && !asked.startsWith(`${path}/`)) {
        response.writeHead(404).end("Another program lives here.");
        return;
      }
      const onward = ask(
        {
          host: "127.0.0.1",
          port,
          method: request.method,
          path: proxy.strips ? asked.slice(path.length) || "/" : asked,
          headers: {
            ...request.headers,
            "x-forwarded-for": request.socket.remoteAddress,
            "x-forwarded-proto": "https",
            "x-forwarded-host": request.headers.host,
          },
        },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
        },
      );
      onward.on("error", () => response.destroy());
      response.on("close", () => onward.destroy());
      request.pipe(onward);
    });
    return proxy;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }
}

/** One that nobody has signed, as Node itself makes none. */
function certificate(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), "oriel-proxy-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  try {
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"],
        ...["-keyout", key, "-out", cert, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
      ],
      { stdio: "pipe" },
    );
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
