import { expect } from "vitest";
import type { Exchange } from "./support/model.ts";
import { test } from "./support/test.ts";

const COLOUR = {
  question: "Which colour?",
  options: [{ label: "Red", about: "like fire" }, { label: "Blue" }],
};
const NAMES = { question: "Which names?", options: [{ label: "Ada" }], multiple: true };
const WHY = { question: "Why?" };

function ask(exchange: Exchange, ...questions: object[]): void {
  exchange.tool("call-1", "ask_user", { questions });
  exchange.finish("tool_calls");
}

test("what is asked in one tab is answered in another, and both show the answer", async ({
  device,
  model,
}) => {
  const tab = await device.tab();
  await tab.send("Paint it");
  ask(await model.next("Paint it"), COLOUR, NAMES, WHY);
  const card = { name: "Needs your answer: Which colour?" };
  await tab.page.getByRole("form", card).waitFor();

  const second = await device.tab();
  await second.sessions.getByRole("img", { name: "Needs you" }).waitFor();
  await second.sessions.getByRole("link", { name: /Paint it/ }).click();
  const form = second.page.getByRole("form", card);
  const answer = form.getByRole("button", { name: "Answer", exact: true });
  await form.waitFor();
  expect(await answer.isDisabled()).toBe(true);
  await form.getByRole("radio", { name: "Red like fire" }).check();
  await form.getByRole("radio", { name: "Blue" }).check();
  await form.getByRole("checkbox", { name: "Ada" }).check();
  await form.getByLabel("Something else").nth(1).fill("Grace");
  await form.getByLabel("Your answer").fill("It is calm");
  await answer.click();

  const next = await model.next();
  expect(next.context).toContain("Which colour? → Blue");
  expect(next.context).toContain("Which names? → Ada; Grace");
  expect(next.context).toContain("Why? → It is calm");
  next.say("Painted.");
  for (const one of [tab, second]) {
    await one.shows("Paint it", "Painted.");
    await one.hides(one.page.getByRole("form", card));
    await one.page.getByRole("button", { name: /ask_user/ }).click();
    await one.sees("It is calm");
  }
});

test("a question is answered with the keys alone", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Paint it");
  ask(await model.next("Paint it"), COLOUR);
  const form = tab.page.getByRole("form", { name: "Needs your answer: Which colour?" });
  await form.getByRole("radio").first().focus();
  await tab.page.keyboard.press("Space");
  await tab.page.keyboard.press("ArrowDown");
  await tab.page.keyboard.press("Enter");
  const next = await model.next();
  expect(next.context).toContain("The user answered: Blue");
  next.say("Done.");
  await tab.shows("Paint it", "Done.");
});

test("a message that is written instead is the answer", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Paint it");
  ask(await model.next("Paint it"), COLOUR);
  await tab.page.getByRole("form", { name: "Needs your answer: Which colour?" }).waitFor();
  await tab.send("Do not paint at all");
  const next = await model.next();
  expect(next.context).toContain("The user wrote instead: Do not paint at all");
  next.say("As you wish.");
  await tab.sees("As you wish.");
});

test("a question can be dismissed, and the model is told", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Paint it");
  ask(await model.next("Paint it"), COLOUR);
  await tab.button("Do not answer").click();
  const next = await model.next();
  expect(next.context).toContain("does not want to answer");
  next.say("Then grey.");
  await tab.shows("Paint it", "Then grey.");
});
