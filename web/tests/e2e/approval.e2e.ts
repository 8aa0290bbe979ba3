import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Tenuto } from "./support/tenuto.ts";
import { test } from "./support/test.ts";

async function folderOf(server: Tenuto): Promise<string> {
  return (await server.call<{ path: string }>("GET", "/workspaces/default")).path;
}

test("what a tool asks in one tab is answered in another, and both show it", async ({
  device,
  model,
  server,
}) => {
  const path = join(await folderOf(server), "note.txt");
  const tab = await device.tab();
  await tab.send("Write a note");
  const first = await model.next("Write a note");
  first.tool("call-1", "write_file", { path: "note.txt", content: "remember the milk\n" });
  first.finish("tool_calls");
  const asks = (name: string) => ({ name: `Needs your answer: ${name}` });
  await tab.page.getByRole("region", asks("Write note.txt")).waitFor();
  expect(existsSync(path)).toBe(false);

  const second = await device.tab();
  await second.sessions.getByRole("img", { name: "Needs you" }).waitFor();
  await second.sessions.getByRole("link", { name: /Write a note/ }).click();
  await second.page
    .getByRole("region", asks("Write note.txt"))
    .getByRole("button", { name: "Allow once" })
    .click();

  (await model.next()).say("Written.");
  for (const one of [tab, second]) {
    await one.shows("Write a note", "Written.");
    await one.hides(one.page.getByRole("region", asks("Write note.txt")));
  }
  expect(readFileSync(path, "utf8")).toBe("remember the milk\n");
});

test("a denied tool is told to the model with the note, and nothing is done", async ({
  device,
  model,
  server,
}) => {
  const tab = await device.tab();
  await tab.send("Make a mess");
  const first = await model.next("Make a mess");
  first.tool("call-1", "write_file", { path: "mess.txt", content: "mess" });
  first.finish("tool_calls");
  await tab.button("Deny with a note").click();
  await tab.page.getByLabel("Say why, for the model").fill("not on a Sunday");
  await tab.button("Deny").click();
  const second = await model.next();
  expect(second.context).toContain("not on a Sunday");
  second.say("Understood.");
  await tab.shows("Make a mess", "Understood.");
  expect(existsSync(join(await folderOf(server), "mess.txt"))).toBe(false);
});

test("Stop while a tool asks ends the question everywhere", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Ask me");
  const first = await model.next("Ask me");
  first.tool("call-1", "shell", { command: "echo hello" });
  first.finish("tool_calls");
  const question = tab.page.getByRole("region", { name: "Needs your answer: Run a command" });
  await question.waitFor();
  const other = await device.tab(`/s/${tab.session}`);
  await other.stop.click();
  await tab.hides(question);
  await tab.sees("Stopped by you.");
});

test("what was allowed for the session is listed in Details and can be taken back", async ({
  device,
  model,
}) => {
  const tab = await device.tab();
  await tab.send("Run twice");
  const first = await model.next("Run twice");
  first.tool("call-1", "shell", { command: "echo one" });
  first.finish("tool_calls");
  await tab.button("Allow for this session").click();
  const second = await model.next();
  await tab.button("Details").click();
  // Only what was meant: that one command.
  const again = tab.button("Ask about shell echo one again");
  await again.click();
  await tab.hides(again);
  second.tool("call-2", "shell", { command: "echo two" });
  second.finish("tool_calls");
  await tab.page.getByRole("region", { name: "Needs your answer: Run a command" }).waitFor();
  await tab.stop.click();
  await tab.sees("Stopped by you.");
});

test("what is always allowed here is a rule of the workspace, which can be removed", async ({
  device,
  model,
}) => {
  const tab = await device.tab();
  await tab.send("Run it always");
  const first = await model.next("Run it always");
  first.tool("call-1", "shell", { command: "echo one" });
  first.finish("tool_calls");
  await tab.page.getByLabel("For longer than once").selectOption("echo with anything after it");
  await tab.button("Always allow here").click();
  const second = await model.next();
  second.tool("call-2", "shell", { command: "echo two" });
  second.finish("tool_calls");
  const third = await model.next();
  third.text("Both done.");
  third.finish();
  await tab.sees("Both done.");
  const settings = await device.tab("/settings/workspaces");
  const remove = settings.button("Remove the rule shell echo *");
  await remove.click();
  await settings.hides(remove);
});
