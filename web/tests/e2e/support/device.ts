/** One person's browser: its own cookies and storage, any number of tabs. */

import type { BrowserContext, BrowserContextOptions } from "playwright-core";
import { expect } from "vitest";
import type { Watched } from "./browser.ts";
import { Tab } from "./tab.ts";
import { TOKEN } from "./tenuto.ts";

export const WIDE: BrowserContextOptions = { viewport: { width: 1440, height: 900 } };
export const PHONE: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
};

export class Device {
  /** What a test expects the console to complain of; everything else fails it. */
  readonly allowed: RegExp[] = [];
  readonly complaints: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly url: string,
    private readonly watched: Watched,
  ) {
    context.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
    context.on("weberror", (error) => this.complaints.push(String(error.error().stack)));
    // Another port of this machine is another host, too.
    context.on("request", (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith("http") && origin !== url) this.complaints.push(request.url());
    });
  }

  static async open(
    watched: Watched,
    url: string,
    options: BrowserContextOptions = WIDE,
    login: "in" | "out" = "in",
  ): Promise<Device> {
    const context = await watched.browser.newContext({ reducedMotion: "reduce", ...options });
    context.setDefaultTimeout(15_000);
    const device = new Device(context, url, watched);
    if (login === "in") await context.request.get(`${url}/login?token=${TOKEN}`);
    return device;
  }

  /** A new tab at a path of the page. */
  async tab(path = "/"): Promise<Tab> {
    const tab = new Tab(await this.context.newPage());
    await tab.page.goto(this.url + path);
    return tab;
  }

  /** Nothing may have been complained of, and nobody else been asked for anything. */
  judge(): void {
    const unexpected = this.complaints.filter(
      (text) => !this.allowed.some((one) => one.test(text)),
    );
    expect(unexpected, "what the browser complained of").toEqual([]);
    expect(this.watched.foreign, "requests to other hosts").toEqual([]);
  }
}
