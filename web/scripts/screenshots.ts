/** Pictures of the page's main states: wide and phone, light and dark.
 *
 * A few go into docs/images for the README, the rest into web/screenshots to be looked at. */

import { copyFileSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { Watched } from "../tests/e2e/support/browser.ts";
import { ModelServer, type Exchange } from "../tests/e2e/support/model.ts";
import { Tenuto, TOKEN } from "../tests/e2e/support/tenuto.ts";
import * as scenes from "./scenes.ts";

const ALL = resolve(import.meta.dirname, "../screenshots");
const SHOWN = resolve(import.meta.dirname, "../../docs/images");
const MOST_BYTES = 150_000;
/** For the README: the picture here, and its name there. */
const FOR_README: Record<string, string> = {
  "agent-wide-light": "agent",
  "compare-blind-wide-dark": "compare",
  "interrupted-phone-light": "phone-interrupted",
  "approval-phone-dark": "phone-approval",
};
const SIZES: Record<string, BrowserContextOptions> = {
  wide: { viewport: { width: 1440, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
};

interface Shot {
  name: string;
  path: string;
  /** What must be on the screen before the picture is taken. */
  words: string | RegExp;
  prepare?: (page: Page) => Promise<void>;
}

export async function main(): Promise<void> {
  mkdirSync(ALL, { recursive: true });
  mkdirSync(SHOWN, { recursive: true });
  const watched = await Watched.start();
  const model = await ModelServer.start();
  model.models = ["gpt-large", "small-fast"];
  const server = await Tenuto.start(model.url);
  const fresh = await Tenuto.start(null, { TENUTO_EMBEDDED_ENABLED: "on" });
  try {
    const welcome = { name: "welcome", path: "/", words: "Welcome to Tenuto" };
    await take(watched, fresh.url, welcome);
    for (const shot of await scenesOf(server, model)) await take(watched, server.url, shot);
  } finally {
    await Promise.all([watched.close(), model.close(), server.close(), fresh.close()]);
  }
  for (const [from, to] of Object.entries(FOR_README)) publish(from, to);
}

async function take(watched: Watched, url: string, shot: Shot): Promise<void> {
  for (const [size, options] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await watched.browser.newContext({ ...options, colorScheme });
      await context.request.get(`${url}/login?token=${TOKEN}`);
      const page = await context.newPage();
      await page.emulateMedia({ reducedMotion: "reduce" });
      await page.goto(url + shot.path);
      await page.getByText(shot.words).first().waitFor();
      await shot.prepare?.(page);
      await page.evaluate(() => document.fonts.ready);
      const picture = await settled(page, size);
      writeFileSync(join(ALL, `${shot.name}-${size}-${colorScheme}.png`), picture);
      await context.close();
    }
  }
  process.stdout.write(`${shot.name}\n`);
}

/** The picture once nothing moves any more. */
async function settled(page: Page, size: string): Promise<Buffer> {
  const sidebar = page.getByRole("navigation", { name: "Sessions" });
  if (size === "wide") await sidebar.getByText(/Fix the parser|No sessions yet/).waitFor();
  let before = await page.screenshot();
  for (;;) {
    await page.waitForTimeout(100);
    const now = await page.screenshot();
    if (now.equals(before)) return now;
    before = now;
  }
}

async function scenesOf(server: Tenuto, model: ModelServer): Promise<Shot[]> {
  const { path } = await server.call<{ path: string }>("GET", "/workspaces/default");
  scenes.writeProject(path);
  await server.call("PATCH", "/settings", { permissions: { edit_file: "allow" } });
  for (const title of scenes.TITLES) await answered(server, model, title, title, "Done.");
  const explained = await answered(
    server,
    model,
    "Binary search, explained",
    scenes.EXPLAIN_PROMPT,
    scenes.EXPLAINED,
  );
  const interrupted = await cutShort(server, model);
  const waiting = await delayed(server, model);
  const compared = await comparison(server, model, "open");
  const voted = await comparison(server, model, "voted");
  const asking = await agent(server, model, "Check the fix", (exchange) => {
    exchange.text("The change is in. Now the tests:");
    exchange.tool("call-9", "shell", { command: "python -m pytest -q tests" });
    exchange.finish("tool_calls");
  });
  const writing = await agent(server, model, "Fix the parser", (exchange) =>
    exchange.text(scenes.FIXED),
  );
  const later = { mode: "agent", input: "Then update the README with the new rule." };
  await server.call("POST", `/sessions/${writing}/runs`, later);
  return [
    { name: "home", path: "/", words: /^Good (morning|afternoon|evening)$/ },
    { name: "finished", path: `/s/${explained}`, words: "Two things are easily" },
    { name: "interrupted", path: `/s/${interrupted}`, words: "The server restarted." },
    { name: "waiting", path: `/s/${waiting}`, words: /Trying again at/, prepare: appeared },
    { name: "approval", path: `/s/${asking}`, words: "Allow once" },
    { name: "agent", path: `/s/${writing}`, words: "would rather keep", prepare: openDiff },
    { name: "compare-blind", path: `/compare/${compared}`, words: "Which is best?" },
    { name: "compare-voted", path: `/compare/${voted}`, words: /You chose/ },
    { name: "settings", path: "/settings/providers", words: "Keys are kept on the server" },
    { name: "usage", path: "/usage", words: "Usage", prepare: fillUsage },
    { name: "palette", path: `/s/${explained}`, words: "Two things", prepare: openPalette },
  ];
}

/** A session with one prompt and its whole answer. */
async function answered(
  server: Tenuto,
  model: ModelServer,
  title: string,
  prompt: string,
  answer: string,
): Promise<string> {
  const { id } = await server.call<{ id: string }>("POST", "/sessions", { title });
  await server.call("POST", `/sessions/${id}/runs`, { input: prompt, mode: "chat" });
  await speak(await model.next(prompt), answer);
  await ended(server, id);
  return id;
}

/** An answer that a crash of the server interrupted. */
async function cutShort(server: Tenuto, model: ModelServer): Promise<string> {
  const title = "How the tide works";
  const { id } = await server.call<{ id: string }>("POST", "/sessions", { title });
  await server.call("POST", `/sessions/${id}/runs`, { input: scenes.STORY_PROMPT, mode: "chat" });
  const exchange = await model.next(scenes.STORY_PROMPT);
  for (const word of scenes.STORY.split(/(?= )/)) exchange.text(word);
  await until(async () => {
    const { messages } = await server.call<{ messages: unknown }>(
      "GET",
      `/sessions/${id}/messages`,
    );
    return JSON.stringify(messages).includes("most coasts get");
  });
  await server.kill();
  await server.up();
  await ended(server, id);
  return id;
}

/** A run whose provider has too much to do, and is asked again later. */
async function delayed(server: Tenuto, model: ModelServer): Promise<string> {
  const { id } = await server.call<{ id: string }>("POST", "/sessions", { title: "Moons" });
  const input = "Which planet has the most moons?";
  await server.call("POST", `/sessions/${id}/runs`, { input, mode: "chat" });
  (await model.next(input)).fail(503, "Try again later", { "retry-after": "280" });
  return id;
}

/** A run that has looked at the code and changed it; `last` is its last step. */
async function agent(
  server: Tenuto,
  model: ModelServer,
  title: string,
  last: (exchange: Exchange) => void,
): Promise<string> {
  const { path } = await server.call<{ path: string }>("GET", "/workspaces/default");
  scenes.writeProject(path);
  const { id } = await server.call<{ id: string }>("POST", "/sessions", { title });
  const prompt = { input: scenes.FIX_PROMPT, mode: "agent" };
  await server.call("POST", `/sessions/${id}/runs`, prompt);
  const look = await model.next();
  look.reasoning(scenes.THOUGHT);
  look.tool("call-1", "read_file", { path: "parser.py" });
  look.tool("call-2", "search_files", { pattern: "parse\\(" }, 1);
  look.finish("tool_calls");
  const change = await model.next();
  change.text(scenes.FOUND);
  const edit = { path: "parser.py", old: scenes.OLD, new: scenes.NEW };
  change.tool("call-3", "edit_file", edit);
  change.finish("tool_calls");
  last(await model.next());
  return id;
}

async function comparison(
  server: Tenuto,
  model: ModelServer,
  state: "open" | "voted",
): Promise<string> {
  const models = model.models.map((name) => `openai/${name}`);
  const { id, panes } = await server.call<{ id: string; panes: { session_id: string }[] }>(
    "POST",
    "/comparisons",
    { models },
  );
  await server.call("POST", `/comparisons/${id}/runs`, { input: scenes.COMPARE_PROMPT });
  const exchanges = await Promise.all(models.map(() => model.next(scenes.COMPARE_PROMPT)));
  await Promise.all(
    exchanges.map((exchange) => speak(exchange, scenes.COMPARED[exchange.model] ?? "")),
  );
  for (const pane of panes) await ended(server, pane.session_id);
  if (state === "voted") await server.call("POST", `/comparisons/${id}/vote`, { winner: 0 });
  return id;
}

/** As fast as models speak, so that times and speeds are those of a real answer. */
async function speak(exchange: Exchange, text: string): Promise<void> {
  const pause = exchange.model === "small-fast" ? 9 : 16;
  await new Promise((resolve) => setTimeout(resolve, pause * 25));
  for (const word of text.split(/(?= )/)) {
    exchange.text(word);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  exchange.finish();
}

async function ended(server: Tenuto, id: string): Promise<void> {
  await until(async () => {
    const { state } = await server.call<{ state: string }>("GET", `/sessions/${id}`);
    return state === "idle";
  });
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** What comes gently into sight is there. */
async function appeared(page: Page): Promise<void> {
  await page.evaluate(() => Promise.all(document.getAnimations().map((one) => one.finished)));
}

async function openDiff(page: Page): Promise<void> {
  await page.getByRole("button", { name: /edit_file/ }).click();
  await page.getByText("A comma at the end begins").first().waitFor();
}

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Command palette" }).waitFor();
}

/** Thirty days of use, which a server that started a minute ago cannot have. */
async function fillUsage(page: Page): Promise<void> {
  await page.route("**/api/usage*", (route) => route.fulfill({ json: { days: usage() } }));
  await page.reload();
  await page.getByText("gpt-large").first().waitFor();
}

function usage(): Record<string, unknown>[] {
  const today = Date.now();
  return Array.from({ length: 30 }, (_, ago) => ago).flatMap((ago) => {
    const day = new Date(today - ago * 86_400_000).toISOString().slice(0, 10);
    const much = 3 + ((ago * 7) % 11) - (ago % 7 > 4 ? 3 : 0);
    return [
      row(day, "openai/gpt-large", much, 42_000, 0.31),
      row(day, "openai/small-fast", much * 2, 9_000, 0.012),
    ].slice(0, ago % 6 === 5 ? 1 : 2);
  });
}

function row(day: string, model: string, runs: number, each: number, cost: number) {
  const tokens = { input_tokens: runs * each, output_tokens: Math.round(runs * each * 0.07) };
  return { day, model, runs, ...tokens, reasoning_tokens: 0, exact: true, cost_usd: runs * cost };
}

function publish(from: string, to: string): void {
  const path = join(ALL, `${from}.png`);
  const { size } = statSync(path);
  if (size > MOST_BYTES) throw new Error(`${from} has ${size} bytes: too much for a README`);
  copyFileSync(path, join(SHOWN, `${to}.png`));
}
