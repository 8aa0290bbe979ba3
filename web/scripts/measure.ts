/** What the page costs, measured in Chromium: `make page-bench`. */

import { execFileSync } from "node:child_process";
import { join, resolve } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { Watched } from "../tests/e2e/support/browser.ts";
import { ModelServer, type Exchange } from "../tests/e2e/support/model.ts";
import { Tenuto, TOKEN } from "../tests/e2e/support/tenuto.ts";
import { startWatching, type Seen } from "./watching.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SECONDS = 10;
const LONG = 10_000;
/** Messages' heights of the long session that are scrolled through. */
const SCREENS = 60;

export async function main(): Promise<void> {
  const watched = await Watched.start();
  const model = await ModelServer.start();
  const server = await Tenuto.start(model.url);
  try {
    const long = await addLongSession(server);
    const page = await open(watched, server.url);
    await weigh(page, server.url);
    for (const rate of [100, 300]) await stream(page, server, model, rate);
    await openLong(page, server, long);
  } finally {
    await Promise.all([watched.close(), model.close(), server.close()]);
  }
}

async function open(watched: Watched, url: string): Promise<Page> {
  const context = await watched.browser.newContext({ viewport: { width: 1440, height: 900 } });
  await context.request.get(`${url}/login?token=${TOKEN}`);
  return context.newPage();
}

/** What a first visit loads, as it goes over the wire. */
async function weigh(page: Page, url: string): Promise<void> {
  const began = Date.now();
  await page.goto(url);
  await page.locator("textarea[data-composer]").waitFor();
  const took = Date.now() - began;
  const bytes = await page.evaluate(() =>
    performance
      .getEntries()
      .filter((entry) => entry instanceof PerformanceResourceTiming)
      .filter((entry) => !new URL(entry.name).pathname.startsWith("/api/"))
      .reduce((sum, entry) => sum + entry.encodedBodySize, 0),
  );
  say("first visit, compressed", bytes / 1000, "kB");
  say("first visit until it can be typed in", took, "ms");
}

async function stream(page: Page, server: Tenuto, model: ModelServer, rate: number): Promise<void> {
  const title = `${rate} tokens/s`;
  const { id } = await server.call<{ id: string }>("POST", "/sessions", { title });
  await page.goto(`${server.url}/s/${id}`);
  await page.locator("textarea[data-composer]").waitFor();
  const tools = await page.context().newCDPSession(page);
  // Time that the thread has really worked: others on the machine do not count.
  await tools.send("Performance.enable", { timeDomain: "threadTicks" });
  const prompt = { input: `Speak at ${rate}`, mode: "chat" };
  const run = await server.call<{ id: string }>("POST", `/sessions/${id}/runs`, prompt);
  const exchange = await model.next(`Speak at ${rate}`);
  exchange.text("0 ");
  await page.locator("article .part.text").first().waitFor();
  await page.evaluate(startWatching);
  const before = await costs(tools);
  const count = rate * SECONDS;
  await speak(exchange, count, rate);
  await page.getByText(`${count} `, { exact: false }).last().waitFor();
  const after = await costs(tools);
  const seen = await page.evaluate(() => (window as unknown as { seen: Seen }).seen);
  exchange.finish();

  const made = await times(server, run.id);
  const lags = [...made].flatMap(([number, at]) => {
    const shown = seen.shown.find(([last]) => last >= number);
    return shown && number > rate ? [shown[1] - at] : [];
  });
  const per = 1000 / count;
  say(`${rate} tokens/s: from the server's event to paint, median`, percentile(lags, 0.5), "ms");
  say(`${rate} tokens/s: from the server's event to paint, p95`, percentile(lags, 0.95), "ms");
  say(`${rate} tokens/s: script per 1,000 tokens`, (after.script - before.script) * per, "ms");
  say(`${rate} tokens/s: all work per 1,000 tokens`, (after.task - before.task) * per, "ms");
  say(`${rate} tokens/s: frames later than 33 ms`, percent(seen.frames, 33), "%");
  say(`${rate} tokens/s: tasks longer than 50 ms`, seen.longTasks, "");
}

/** Numbered words, so many in a second, in paragraphs as an answer has them. */
async function speak(exchange: Exchange, count: number, rate: number): Promise<void> {
  const began = performance.now();
  for (let n = 1; n <= count;) {
    const due = Math.min(count, Math.floor(((performance.now() - began) / 1000) * rate));
    for (; n <= due; n++) exchange.text(n % 60 === 0 ? `${n}.\n\n` : n % 7 ? `${n} ` : `**${n}** `);
    await new Promise((resolve) => setTimeout(resolve, 1000 / rate));
  }
}

/** When the server made the event with each number, in ms since 1970. */
async function times(server: Tenuto, run: string): Promise<Map<number, number>> {
  const response = await fetch(`${server.url}/api/runs/${run}/events`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const found = new Map<number, number>();
  for (const line of (await response.text()).split("\n")) {
    if (!line.startsWith("data: ") || !line.includes('"part.delta"')) continue;
    const event = JSON.parse(line.slice(6)) as { at: string; text: string };
    const last = event.text.match(/\d+/g)?.at(-1);
    if (last !== undefined) found.set(Number(last), Date.parse(event.at));
  }
  return found;
}

async function openLong(page: Page, server: Tenuto, id: string): Promise<void> {
  const last = page.getByText(`Answer ${LONG - 1}.`);
  const opened: number[] = [];
  for (let n = 0; n < 5; n++) {
    await page.goto(server.url);
    await page.locator(`a[data-session="${id}"]`).waitFor();
    const began = Date.now();
    await page.locator(`a[data-session="${id}"]`).click();
    await last.waitFor();
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    opened.push(Date.now() - began);
  }
  say(`opening a session of ${LONG.toLocaleString("en")} messages`, percentile(opened, 0.5), "ms");
  const began = Date.now();
  await page.goto(`${server.url}/s/${id}`);
  await last.waitFor();
  say("the same from its address, with the page", Date.now() - began, "ms");

  await page.evaluate(startWatching);
  await page.mouse.move(700, 400);
  for (let n = 0; n < SCREENS * 4; n++) {
    await page.mouse.wheel(0, -225);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  }
  const seen = await page.evaluate(() => (window as unknown as { seen: Seen }).seen);
  const rows = await page.locator("article").count();
  say(`scrolling up ${SCREENS} screens: frames later than 33 ms`, percent(seen.frames, 33), "%");
  say(`scrolling up ${SCREENS} screens: slowest frame`, Math.max(...seen.frames), "ms");
  say("messages in the document after it", rows, "");
}

async function addLongSession(server: Tenuto): Promise<string> {
  await server.kill();
  const file = join(server.folder, "data/tenuto.sqlite3");
  const python = join(ROOT, ".venv/bin/python");
  const given = ["-m", "bench.long_session", file, String(LONG)];
  const id = execFileSync(python, given, { cwd: ROOT, encoding: "utf8" }).trim();
  await server.up();
  return id;
}

async function costs(tools: CDPSession): Promise<{ script: number; task: number }> {
  const { metrics } = await tools.send("Performance.getMetrics");
  const ms = (name: string) => 1000 * (metrics.find((one) => one.name === name)?.value ?? 0);
  return { script: ms("ScriptDuration"), task: ms("TaskDuration") };
}

function percentile(values: number[], share: number): number {
  const ordered = [...values].sort((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))] ?? NaN;
}

function percent(frames: number[], over: number): number {
  return (100 * frames.filter((frame) => frame > over).length) / frames.length;
}

function say(name: string, value: number, unit: string): void {
  const digits = value < 10 && value % 1 !== 0 ? 1 : 0;
  process.stdout.write(`${name.padEnd(62)} ${value.toFixed(digits).padStart(8)} ${unit}\n`);
}
