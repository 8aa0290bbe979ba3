import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ROOT } from "./support/tenuto.ts";
import { test } from "./support/test.ts";

/** Where the server's own tests keep the embedded model, once they could fetch it. */
const MODELS = process.env["TENUTO_TEST_MODELS"] ?? join(ROOT, ".pytest_cache/d/tenuto-models");

test("the first visit to a new server is a welcome with something to do", async ({ open, own }) => {
  const server = await own({ TENUTO_EMBEDDED_ENABLED: "on" }, null);
  const device = await open(undefined, { url: server.url });
  const tab = await device.tab();
  await tab.page.getByRole("heading", { name: "Welcome to Tenuto" }).waitFor();
  await tab.sees(/A small model that comes with Tenuto answers at once/);
  const example = tab.page.getByRole("list", { name: "Examples" }).getByRole("button").first();
  const words = await example.innerText();
  await example.click();
  await expect.poll(() => tab.field.inputValue()).toBe(words);
  await tab.page.getByRole("link", { name: /add a model/ }).click();
  await tab.page.getByRole("heading", { name: "Providers" }).waitFor();
});

test("the first prompt is answered with no set-up", async ({ open, own, skip }) => {
  const files = existsSync(MODELS)
    ? readdirSync(MODELS).filter((name) => name.endsWith(".gguf"))
    : [];
  skip(files.length === 0, "the embedded model's file is not here, and fetching it takes long");
  const server = await own({ TENUTO_EMBEDDED_ENABLED: "on" }, null);
  mkdirSync(join(server.folder, "data/models"), { recursive: true });
  for (const name of files)
    symlinkSync(join(MODELS, name), join(server.folder, "data/models", name));
  const tab = await (await open(undefined, { url: server.url })).tab();
  await tab.send("Say hello.");
  await tab.stop.waitFor();
  await tab.hides(tab.stop);
  const [, answer] = await tab.transcript();
  expect(answer).toMatch(/\w/);
  await tab.lastAnswer.getByText(/smollm2-135m · /).waitFor();
});
