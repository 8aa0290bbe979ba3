import { expect } from "vitest";
import { test } from "./support/test.ts";

test("sub-agents are seen at work, opened, and come back from", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Look around");
  const first = await model.next("Look around");
  first.tool("call-1", "task", { prompt: "Read the tests", title: "Tests" }, 0);
  first.tool("call-2", "task", { prompt: "Read the docs", title: "Docs" }, 1);
  first.finish("tool_calls");
  const tests = await model.next("Read the tests");
  const docs = await model.next("Read the docs");
  tests.tool("call-1", "list_files", { path: "." });
  tests.finish("tool_calls");
  const more = await model.next("Read the tests");
  const doing = tab.page.getByRole("list", { name: "What it does" }).first();
  await doing.getByText("list_files").waitFor();

  await tab.page.getByRole("link", { name: "Open its session" }).first().click();
  await tab.page.getByRole("heading", { name: "Tests" }).waitFor();
  more.say("Eleven tests.");
  await tab.sees("Eleven tests.");
  await tab.page
    .getByRole("link", { name: /Look around/ })
    .last()
    .waitFor();
  await tab.page.locator("a.above").click();

  await tab.page.getByRole("button", { name: "Stop this one" }).click();
  await docs.closed();
  const last = await model.next("Look around");
  expect(last.context).toContain("Eleven tests.");
  expect(last.context).toContain("The user stopped this sub-agent.");
  last.say("Half of it.");
  await tab.sees("Half of it.");
  // The list of sessions has only the one above.
  expect(await tab.sessions.getByRole("link", { name: /^(Tests|Docs)/ }).count()).toBe(0);
});

test("what a sub-agent asks is answered from the session above", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Ask for me");
  const first = await model.next("Ask for me");
  first.tool("call-1", "task", { prompt: "Find out", tools: "all" });
  first.finish("tool_calls");
  const below = await model.next("Find out");
  below.tool("call-1", "ask_user", { questions: [{ question: "Which way?" }] });
  below.finish("tool_calls");
  const form = tab.page.getByRole("form", { name: "Needs your answer: Which way?" });
  await form.getByLabel("Your answer").fill("Left");
  await tab.sessions.getByRole("img", { name: "Needs you" }).waitFor();
  await form.getByRole("button", { name: "Answer", exact: true }).click();
  const answered = await model.next("Find out");
  expect(answered.context).toContain("The user answered: Left");
  answered.tool("call-2", "shell", { command: "echo left" });
  answered.finish("tool_calls");
  const leave = tab.page.getByRole("region", { name: "Needs your answer: Run a command" });
  await leave.getByRole("button", { name: "Allow once" }).click();
  (await model.next("Find out")).say("Left it is.");
  (await model.next("Ask for me")).say("Go left.");
  await tab.sees("Go left.");
});
