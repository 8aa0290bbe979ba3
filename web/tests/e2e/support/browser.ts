/** Real Chromium, watched: nothing may be written to its console, nothing asked of other hosts. */

import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium, type Browser } from "playwright-core";

const PLACES = [
  process.env["CHROMIUM"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** What the browser itself asks, whatever page it shows; it gets no answer. */
const ITS_OWN =
  /[ /](update\.googleapis|content-autofill\.googleapis|accounts\.google|redirector\.gvt1)\.com[:/]/;

export function chromiumPath(): string | undefined {
  return PLACES.find((path) => path !== "" && existsSync(path));
}

export class Watched {
  private constructor(
    readonly browser: Browser,
    private readonly proxy: Server,
    /** What the browser asked of hosts that are not this machine. */
    readonly foreign: string[],
  ) {}

  static async start(): Promise<Watched> {
    // The browser goes past a proxy for its own machine only: whatever comes here is foreign.
    const foreign: string[] = [];
    const note = (what: string): void => void (ITS_OWN.test(what) || foreign.push(what));
    const proxy = createServer((request, response) => {
      note(`${request.method} ${request.url}`);
      response.writeHead(502).end();
    });
    proxy.on("connect", (request, socket) => {
      note(`CONNECT ${request.url}`);
      socket.end("HTTP/1.1 502 No\r\n\r\n");
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const port = (proxy.address() as AddressInfo).port;
    const executablePath = chromiumPath();
    if (executablePath === undefined) throw new Error("There is no Chromium: see docs/page.md.");
    const args = [...ARGS, `--proxy-server=http://127.0.0.1:${port}`];
    const browser = await chromium.launch({ executablePath, args });
    return new Watched(browser, proxy, foreign);
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.proxy.closeAllConnections();
    this.proxy.close();
  }
}
