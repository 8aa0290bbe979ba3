/** Between browser and server: knows what is open, and loses an answer on request. */

import { createServer, request as ask, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class Relay {
  /** The addresses of all that is open now. */
  readonly open = new Set<URL>();
  #server: Server;
  #losing: ((method: string, path: string) => boolean) | null = null;

  private constructor(target: number) {
    this.#server = createServer((incoming, outgoing) => {
      const { method = "GET", url = "/", headers } = incoming;
      const address = new URL(url, this.url);
      this.open.add(address);
      outgoing.on("close", () => this.open.delete(address));
      const given = { host: "127.0.0.1", port: target, method, path: url, headers };
      const forward = ask(given, (answer) => {
        if (this.#losing?.(method, address.pathname)) {
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
}
