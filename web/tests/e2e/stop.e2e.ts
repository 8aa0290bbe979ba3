import { expect } from "vitest";
import { test } from "./support/test.ts";

test("Stop closes the provider's connection, keeps what came, and Continue goes on", async ({
  device,
  model,
}) => {
  const tab = await device.tab();
  await tab.send("A long story");
  const exchange = await model.next("A long story");
  exchange.text("Once upon");
  await tab.shows("A long story", "Once upon");
  await tab.stop.click();
  await exchange.closed();
  await tab.sees("Stopped by you.");
  await tab.hides(tab.stop);
  await tab.shows("A long story", "Once upon");

  await tab.button("Continue").click();
  const next = await model.next();
  expect(next.context).toContain("Once upon");
  next.say(" a time.");
  await expect.poll(async () => (await tab.transcript()).slice(1).join(" ")).toContain("a time.");
  await tab.hides(tab.stop);
});

test("Escape stops", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Another story");
  const exchange = await model.next("Another story");
  exchange.text("There was");
  await tab.shows("Another story", "There was");
  await tab.page.keyboard.press("Escape");
  await exchange.closed();
  await tab.sees("Stopped by you.");
});

test("right after a reload a silent provider can be stopped", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Think in silence");
  const exchange = await model.next("Think in silence");
  exchange.begin();
  await tab.stop.waitFor();
  await tab.page.reload();
  await tab.stop.click();
  await exchange.closed();
  await tab.sees("Stopped by you.");
  await tab.shows("Think in silence");
});

test("a failed answer says why and can be asked again", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Please fail");
  (await model.next("Please fail")).fail(400, "This prompt is too odd");
  await tab.sees(/The model's provider gave an error/);
  await tab.sees(/This prompt is too odd/);
  await tab.choose(tab.button("Retry"), /Again with/);
  (await model.next("Please fail")).say("This time it works");
  await tab.shows("Please fail", "This time it works");
});
