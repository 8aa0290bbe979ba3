/** Between browser and server: counts what is open, and loses an answer on request. */

import { createServer, request as ask, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Relay {
  /** Open now, and the most that ever were at once, by path. */
  readonly open = new Map<string, number>();
  readonly most = new Map<string, number>();
  #server: Server;
  #losing: ((method: string, path: string) => boolean) | null = null;

  private constructor(target: number) {
    this.#server = createServer((incoming, outgoing) => {
      const { method = "GET", url = "/", headers } = incoming;
      const path = url.split("?")[0] ?? "/";
      this.#count(path, 1);
      outgoing.on("close", () => this.#count(path, -1));
      const given = { host: "127.0.0.1", port: target, method, path: url, headers };
      const forward = ask(given, (answer) => {
        if (this.#losing?.(method, path)) {
          this.#losing = null;
          outgoing.destroy();
          answer.destroy();
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        outgoing.flushHeaders();
        answer.pipe(outgoing);
      });
      forward.on("error", () => outgoing.destroy());
      outgoing.on("close", () => forward.destroy());
      incoming.pipe(forward);
    });
  }

  static async start(target: number): Promise<Relay> {
    const made = new Relay(target);
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The server answers the next such request, and the browser never hears of it. */
  loseAnswer(which: (method: string, path: string) => boolean): void {
    this.#losing = which;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #count(path: string, by: number): void {
    const now = (this.open.get(path) ?? 0) + by;
    this.open.set(path, now);
    this.most.set(path, Math.max(now, this.most.get(path) ?? 0));
  }
}
