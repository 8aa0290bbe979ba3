import { expect } from "vitest";
import { test } from "./support/test.ts";

test("an answer appears as it comes", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Say hello slowly");
  const exchange = await model.next("Say hello slowly");
  exchange.text("Hel");
  await tab.shows("Say hello slowly", "Hel");
  exchange.text("lo");
  await tab.shows("Say hello slowly", "Hello");
  await tab.stop.waitFor();
  exchange.finish();
  await tab.hides(tab.stop);
  await tab.shows("Say hello slowly", "Hello");
  await tab.lastAnswer.getByText(/test-model · \d+ tokens · /).waitFor();
});

test("a reload in the middle shows exactly what was shown, and then the rest", async ({
  device,
  model,
}) => {
  const tab = await device.tab();
  await tab.send("Count to four");
  const exchange = await model.next("Count to four");
  exchange.text("one **two** ");
  await tab.shows("Count to four", "one two");
  await tab.page.reload();
  await tab.shows("Count to four", "one two");
  exchange.text("three ");
  await tab.shows("Count to four", "one two three");
  exchange.text("four");
  exchange.finish();
  await tab.shows("Count to four", "one two three four");
  await tab.hides(tab.stop);
  await tab.page.reload();
  await tab.shows("Count to four", "one two three four");
});

test("reasoning and tools are shown where they happened", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("What is in this folder?");
  const first = await model.next();
  first.reasoning("I had better look.");
  await tab.sees("Thinking…");
  first.text("Let me look.");
  first.tool("call-1", "list_files", { path: "." });
  first.finish("tool_calls");
  const second = await model.next();
  expect(second.messages.at(-1)?.role).toBe("tool");
  second.say("Nothing.");
  await tab.shows("What is in this folder?", "Let me look.", "Nothing.");
  const kinds = tab.page.locator("article .part");
  await expect
    .poll(() => kinds.evaluateAll((parts) => parts.map((part) => part.classList[1])))
    .toEqual(["reasoning", "text", "tool", "text"]);
  await tab.button(/list_files/).waitFor();
});
