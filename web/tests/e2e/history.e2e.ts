import { expect } from "vitest";
import type { ModelServer } from "./support/model.ts";
import type { Tab } from "./support/tab.ts";
import { test } from "./support/test.ts";

async function talk(tab: Tab, model: ModelServer, ...turns: [string, string][]): Promise<void> {
  for (const [prompt, answer] of turns) {
    await tab.send(prompt);
    (await model.next(prompt)).say(answer);
    await tab.lastAnswer.getByText(answer).waitFor();
    await tab.hides(tab.stop);
  }
}

test("an edited prompt takes the place of what came after it", async ({ device, model }) => {
  const tab = await device.tab();
  await talk(tab, model, ["red", "a rose"], ["blue", "the sky"]);
  const first = tab.page.getByRole("article", { name: "You" }).first();
  await first.hover();
  await first.getByRole("button", { name: "Edit and ask again" }).click();
  await tab.page.getByLabel("Your message").fill("green");
  await tab.page.getByLabel("Your message").press("Enter");
  const next = await model.next("green");
  expect(next.context).not.toContain("red");
  next.say("the grass");
  await tab.shows("green", "the grass");
});

test("an answer can be asked for again, also of another model", async ({ device, model }) => {
  const tab = await device.tab();
  await talk(tab, model, ["a number", "one"]);
  await tab.lastAnswer.hover();
  await tab.choose(tab.button("Ask again"), /Again with/);
  (await model.next("a number")).say("two");
  await tab.shows("a number", "two");
  await tab.hides(tab.stop);
  await tab.lastAnswer.hover();
  await tab.choose(tab.button("Ask again"), "With another model…");
  await tab.page.getByRole("option", { name: /^beta/ }).click();
  const next = await model.next("a number");
  expect(next.model).toBe("beta");
  next.say("three");
  await tab.shows("a number", "three");
});

test("undo takes the last turn away in every tab", async ({ device, model }) => {
  const tab = await device.tab();
  await talk(tab, model, ["keep this", "kept"], ["not this", "gone"]);
  const other = await device.tab(`/s/${tab.session}`);
  await other.shows("keep this", "kept", "not this", "gone");
  await tab.lastPrompt.hover();
  await tab.button("Undo: remove this and what follows").click();
  await tab.shows("keep this", "kept");
  await other.shows("keep this", "kept");
});

test("a fork goes on from an answer in a session of its own", async ({ device, model }) => {
  const tab = await device.tab();
  await talk(tab, model, ["one way", "or another"], ["further", "still"]);
  const before = tab.session;
  const answer = tab.page.getByRole("article", { name: "Answer" }).first();
  await answer.hover();
  await answer.getByRole("button", { name: "Go on from here in a new session" }).click();
  await tab.page.waitForURL((url) => !url.pathname.includes(before));
  await tab.shows("one way", "or another");
  await talk(tab, model, ["elsewhere", "fine"]);
  await tab.shows("one way", "or another", "elsewhere", "fine");
  await tab.page.goto(`${device.url}/s/${before}`);
  await tab.shows("one way", "or another", "further", "still");
});
