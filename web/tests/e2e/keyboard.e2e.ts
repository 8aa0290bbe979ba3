import { expect } from "vitest";
import { test } from "./support/test.ts";

test("everything that matters works by keyboard alone", async ({ device, model, server }) => {
  await server.call("POST", "/sessions", { title: "Somewhere to go" });
  const tab = await device.tab();
  const keys = tab.page.keyboard;
  await expect
    .poll(() => tab.field.evaluate((field) => field === document.activeElement))
    .toBe(true);

  await keys.type("Typed");
  await keys.press("Shift+Enter");
  await keys.type("on two lines");
  await keys.press("Enter");
  const exchange = await model.next("Typed\non two lines");
  exchange.text("Heard");
  await tab.shows("Typed\non two lines", "Heard");
  await keys.press("Escape");
  await exchange.closed();
  await tab.sees("Stopped by you.");

  await keys.press("ArrowUp");
  await tab.sees("Changing your message.");
  await expect.poll(() => tab.field.inputValue()).toBe("Typed\non two lines");
  await keys.press("Escape");
  await tab.hides(tab.text("Changing your message."));

  await keys.press("Control+k");
  await tab.page.getByRole("dialog", { name: "Command palette" }).waitFor();
  await keys.type("somewhere");
  await tab.page.getByRole("option", { name: /Somewhere to go/, selected: true }).waitFor();
  await keys.press("Enter");
  await tab.page.getByRole("heading", { name: "Somewhere to go" }).waitFor();

  await keys.press("Control+Shift+O");
  await expect.poll(() => new URL(tab.page.url()).pathname).toBe("/");
  await expect
    .poll(() => tab.field.evaluate((field) => field === document.activeElement))
    .toBe(true);

  await tab.field.evaluate((field) => (field as HTMLElement).blur());
  await keys.press("?");
  await tab.page.getByRole("dialog").getByText("New session").waitFor();
  await keys.press("Escape");
  await tab.hides(tab.page.getByRole("dialog"));
});
