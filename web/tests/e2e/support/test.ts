/** `test` with what every test here needs: a server, its model, and browsers in front of them. */

import type { BrowserContextOptions } from "playwright-core";
import { test as base } from "vitest";
import { Watched } from "./browser.ts";
import { Device } from "./device.ts";
import { ModelServer } from "./model.ts";
import { Tenuto } from "./tenuto.ts";

interface Where {
  url?: string;
  login?: "in" | "out";
}

export const test = base
  .extend("watched", { scope: "worker" }, async ({}, { onCleanup }) => {
    const watched = await Watched.start();
    onCleanup(() => watched.close());
    return watched;
  })
  .extend("provider", { scope: "worker" }, async ({}, { onCleanup }) => {
    const provider = await ModelServer.start();
    onCleanup(() => provider.close());
    return provider;
  })
  /** One for all tests; whoever kills a server starts an own one. */
  .extend("server", { scope: "worker" }, async ({ provider }, { onCleanup }) => {
    const server = await Tenuto.start(provider.url);
    onCleanup(() => server.close());
    return server;
  })
  /** Held by the test; nothing of earlier tests is left in it. */
  .extend("model", async ({ provider, server }) => {
    await server.quieten();
    provider.forget();
    return provider;
  })
  /** Starts a server of this test only. */
  .extend("own", async ({ model }, { onCleanup }) => {
    const started: Tenuto[] = [];
    onCleanup(async () => {
      for (const server of started) await server.close();
    });
    return async (env: Record<string, string> = {}, modelUrl: string | null = model.url) => {
      const server = await Tenuto.start(modelUrl, env);
      started.push(server);
      return server;
    };
  })
  /** Opens a browser with cookies of its own; what it complained of is looked at in the end. */
  .extend("open", async ({ watched, server }, { onCleanup }) => {
    const opened: Device[] = [];
    onCleanup(async () => {
      for (const device of opened) await device.context.close();
      for (const device of opened) device.judge();
    });
    return async (options?: BrowserContextOptions, where: Where = {}) => {
      const device = await Device.open(watched, where.url ?? server.url, options, where.login);
      opened.push(device);
      return device;
    };
  })
  .extend("device", async ({ open }) => open());
