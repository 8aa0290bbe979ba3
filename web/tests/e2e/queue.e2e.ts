import type { Locator } from "playwright-core";
import { expect } from "vitest";
import type { Exchange, ModelServer } from "./support/model.ts";
import type { Tab } from "./support/tab.ts";
import { test } from "./support/test.ts";

/** A conversation with an answer under way and these prompts behind it. */
async function busy(tab: Tab, model: ModelServer, ...queued: string[]): Promise<Exchange> {
  await tab.send("the first");
  const exchange = await model.next("the first");
  exchange.text("working");
  await tab.shows("the first", "working");
  for (const [at, text] of queued.entries()) {
    await tab.send(text);
    await rows(tab).nth(at).waitFor();
  }
  return exchange;
}

function rows(tab: Tab): Locator {
  return tab.queue.getByRole("listitem");
}

/** The queued prompts, from the first to the last. */
async function waits(tab: Tab, ...texts: string[]): Promise<void> {
  const found = tab.page.locator("[data-queue-text]");
  await expect
    .poll(() => found.evaluateAll((all) => all.map((one) => one.textContent?.trim())))
    .toEqual(texts);
}

test("a prompt sent while another runs waits above the composer and runs after it", async ({
  device,
  model,
}) => {
  const tab = await device.tab();
  const first = await busy(tab, model, "the second");
  await waits(tab, "the second");
  await tab.page.reload();
  await waits(tab, "the second");
  first.text(" done");
  first.finish();
  const second = await model.next("the second");
  await tab.hides(tab.queue);
  second.say("also done");
  await tab.shows("the first", "working done", "the second", "also done");
});

test("queued prompts can be changed, moved and removed", async ({ device, model }) => {
  const tab = await device.tab();
  const first = await busy(tab, model, "apples", "pears", "plums");
  await waits(tab, "apples", "pears", "plums");

  await tab.button("apples").click();
  const editor = tab.page.getByLabel("Change this prompt");
  await editor.fill("green apples");
  await editor.press("Enter");
  await waits(tab, "green apples", "pears", "plums");

  await tab.choose(
    rows(tab).nth(2).getByRole("button", { name: "More for this prompt" }),
    "Move up",
  );
  await waits(tab, "green apples", "plums", "pears");

  await rows(tab).nth(0).getByRole("button", { name: "Remove from the queue" }).click();
  await waits(tab, "plums", "pears");

  first.finish();
  (await model.next("plums")).say("one");
  (await model.next("pears")).say("two");
  await tab.shows("the first", "working", "plums", "one", "pears", "two");
});

test("Send now gives a queued prompt to the running answer at its next step", async ({
  device,
  model,
}) => {
  const tab = await device.tab();
  const first = await busy(tab, model, "look twice");
  await rows(tab).nth(0).getByRole("button", { name: "Send now" }).click();
  await tab.sees("goes in at the next step");
  first.tool("call-1", "list_files", {});
  first.finish("tool_calls");
  const second = await model.next("look twice");
  expect(second.context).toContain("working");
  second.say("looked twice");
  await tab.shows("the first", "working", "look twice", "looked twice");
  await tab.sees("Sent while it was at work");
});

test("Instead stops the answer and runs the queued prompt, and the rest goes on waiting", async ({
  device,
  model,
}) => {
  const tab = await device.tab();
  const first = await busy(tab, model, "later", "at once");
  await tab.choose(
    rows(tab).nth(1).getByRole("button", { name: "More for this prompt" }),
    /Instead/,
  );
  await first.closed();
  const second = await model.next("at once");
  await waits(tab, "later");
  second.say("here");
  (await model.next("later")).say("there");
  await tab.shows("the first", "working", "at once", "here", "later", "there");
});

test("Stop also ends what waits, and its text is kept", async ({ device, model }) => {
  const tab = await device.tab();
  const first = await busy(tab, model, "never sent");
  await tab.stop.click();
  await first.closed();
  await tab.hides(tab.queue);
  await tab.hides(tab.stop);
  await tab.shows("the first", "working", "never sent");
});
