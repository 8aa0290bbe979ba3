import { join } from "node:path";
import { expect } from "vitest";
import { ROOT } from "./support/tenuto.ts";
import { test } from "./support/test.ts";

const TOY = `${join(ROOT, ".venv/bin/python")} ${join(ROOT, "tests/support/toy_mcp.py")}`;

test("an MCP server is added, started, used by an agent, and removed", async ({
  device,
  model,
}) => {
  const tab = await device.tab("/settings/mcp");
  await tab.page.getByText("No MCP server yet").waitFor();
  await tab.button("Add").click();
  await tab.page.getByRole("textbox", { name: "Name", exact: true }).fill("toy");
  await tab.page.getByText("Its tools will be called toy__…").waitFor();
  await tab.page.getByLabel("Command or address").fill(TOY);
  await tab.page.getByLabel("Variables").fill("TOY_KEY=very-secret-words");
  await tab.button("Save").click();
  await tab.page.getByText("Starts when needed").waitFor();
  await tab.button("Start").click();
  await tab.page.getByText("Ready", { exact: true }).waitFor();
  await tab.page.getByText(/^\d+ tools$/).click();
  await tab.page.getByText("Add two numbers.").waitFor();

  // What is secret does not come back, and stays where it is.
  await tab.button("Actions for toy").click();
  await tab.page.getByRole("menuitem", { name: "Change" }).click();
  expect(await tab.page.getByLabel("Variables").inputValue()).toBe("TOY_KEY");
  await tab.button("Save").click();
  await tab.page.getByRole("dialog").waitFor({ state: "hidden" });

  await tab.button("Actions for toy").click();
  await tab.page.getByRole("menuitem", { name: "Switch off" }).click();
  await tab.page.getByText("Off", { exact: true }).waitFor();
  await tab.button("Actions for toy").click();
  await tab.page.getByRole("menuitem", { name: "Switch on" }).click();
  await tab.page.getByText("Starts when needed").waitFor();

  await tab.page.goto(`${device.url}/`);
  await tab.send("Add them");
  const exchange = await model.next("Add them");
  exchange.tool("call-1", "toy__add", { a: 2, b: 40 });
  exchange.finish("tool_calls");
  await tab.button("Allow once").click();
  (await model.next("Add them")).say("It is 42.");
  await tab.lastAnswer.getByText("It is 42.").waitFor();

  await tab.page.goto(`${device.url}/settings/mcp`);
  await tab.button("Actions for toy").click();
  await tab.page.getByRole("menuitem", { name: "Delete" }).click();
  await tab.button("Delete").click();
  await tab.page.getByText("No MCP server yet").waitFor();
});
