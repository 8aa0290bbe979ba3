import type { Locator } from "playwright-core";
import { expect } from "vitest";
import type { Exchange, ModelServer } from "./support/model.ts";
import type { Tab } from "./support/tab.ts";
import { test } from "./support/test.ts";

/** A blind comparison of two models, both asked, neither has answered. */
async function begin(tab: Tab, model: ModelServer, prompt: string): Promise<Exchange[]> {
  await tab.button(/Choose models|Add a model/).click();
  for (const name of ["alpha", "beta"]) {
    const option = tab.page.getByRole("option", { name: new RegExp(`^${name}`) });
    if ((await option.getAttribute("aria-selected")) === "false") await option.click();
  }
  await tab.page.keyboard.press("Escape");
  await tab.send(prompt);
  const both = [await model.next(prompt), await model.next(prompt)];
  expect(both.map((one) => one.model).sort()).toEqual(["alpha", "beta"]);
  return both;
}

/** The pane that shows these words. */
function pane(tab: Tab, words: string): Locator {
  return tab.page.locator("section.pane").filter({ hasText: words });
}

test("a blind comparison shows no model before the vote, and then all of them", async ({
  device,
  model,
}) => {
  const tab = await device.tab("/compare");
  const both = await begin(tab, model, "Which is better");
  for (const exchange of both) exchange.text(`an answer of ${exchange.model.length} letters`);
  await pane(tab, "of 5 letters").waitFor();
  await pane(tab, "of 4 letters").waitFor();
  const main = tab.page.getByRole("main");
  const blind = /alpha|beta/;
  expect(await main.innerHTML()).not.toMatch(blind);
  for (const exchange of both) exchange.finish();
  await tab.page.getByRole("group", { name: "Which is best?" }).waitFor();
  expect(await main.innerHTML()).not.toMatch(blind);
  const letter = await pane(tab, "of 5 letters").locator(".letter").innerText();
  await tab.button(letter).click();

  await tab.sees(`You chose ${letter}: alpha.`);
  await pane(tab, "of 5 letters").getByRole("heading", { name: "alpha" }).waitFor();
  await pane(tab, "of 4 letters").getByRole("heading", { name: "beta" }).waitFor();

  await pane(tab, "of 5 letters").getByRole("button", { name: "Keep" }).click();
  await tab.page.waitForURL(/\/s\//);
  await tab.shows("Which is better", "an answer of 5 letters");
  await tab.send("Go on");
  const next = await model.next("Go on");
  expect(next.model).toBe("alpha");
  next.say("Gladly.");
  await tab.shows("Which is better", "an answer of 5 letters", "Go on", "Gladly.");

  await tab.page.goto(`${device.url}/compare/scoreboard`);
  await tab.page.getByText("Table", { exact: true }).click();
  await tab.page.getByRole("row", { name: /alpha/ }).waitFor();
});

test("closing a pane closes its provider's connection at once, and only its own", async ({
  device,
  model,
}) => {
  const tab = await device.tab("/compare");
  const [one, other] = await begin(tab, model, "Close one");
  one?.text("stays");
  other?.begin();
  await pane(tab, "stays").waitFor();
  const closing = tab.page.locator("section.pane").filter({ hasNotText: "stays" });
  await closing.getByRole("button", { name: /^Stop and close/ }).click();
  await other?.closed();
  one?.text(" to the end");
  one?.finish();
  await pane(tab, "stays to the end").waitFor();
  expect(one?.ended).toBe("finished");
});

test("Stop all stops a silent provider, too, and keeps what came", async ({ device, model }) => {
  const tab = await device.tab("/compare");
  const [one, other] = await begin(tab, model, "Stop them");
  one?.text("half an answer");
  other?.begin();
  await pane(tab, "half an answer").waitFor();
  await tab.button(/^Stop all/).click();
  await Promise.all([one?.closed(), other?.closed()]);
  await pane(tab, "half an answer").waitFor();
  await tab.hides(tab.button(/^Stop all/));
});

test("leaving the page stops what only it asked for", async ({ device, model }) => {
  const tab = await device.tab("/compare");
  const both = await begin(tab, model, "Leave them");
  for (const exchange of both) exchange.begin();
  await tab.button(/^Stop all/).waitFor();
  await tab.page.close();
  await Promise.all(both.map((exchange) => exchange.closed()));

  const again = await device.tab("/compare");
  const two = await begin(again, model, "Leave again");
  for (const exchange of two) exchange.begin();
  await again.button(/^Stop all/).waitFor();
  await again.sessions.getByRole("link", { name: "Usage" }).click();
  await Promise.all(two.map((exchange) => exchange.closed()));
});
