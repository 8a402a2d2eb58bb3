import { connect, createServer, type Server, type Socket } from "node:net";

/**
 * A way to a provider that can be shut: to the program and the browser the provider is down then, and
 * comes back with all that it knew. It listens on one address of this machine for its whole life.
 */
export class Door {
  readonly port: number;
  private readonly target: number;
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  private constructor(port: number, target: number) {
    this.port = port;
    this.target = target;
  }

  static async to(target: number, port: number): Promise<Door> {
    const door = new Door(port, target);
    await door.open();
    return door;
  }

  get isOpen(): boolean {
    return this.server !== undefined;
  }

  async open(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(this.target, "127.0.0.1");
      this.join(near, far);
      this.join(far, near);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.port, "127.0.0.1", resolve);
    });
    this.server = server;
  }

  /** Connections are refused from here on, and those that are open break. */
  async shut(): Promise<void> {
    const server = this.server;
    this.server = undefined;
    const closed = new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(from: Socket, to: Socket): void {
    this.sockets.add(from);
    // A broken end breaks the other.
    from.on("error", () => to.destroy());
    from.on("close", () => {
      this.sockets.delete(from);
      to.destroy();
    });
    from.pipe(to);
  }
}
