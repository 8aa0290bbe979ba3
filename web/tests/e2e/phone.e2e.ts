import { expect } from "vitest";
import { PHONE } from "./support/device.ts";
import { test } from "./support/test.ts";

test("on a phone sessions are a sheet, and the composer and Stop are on the screen", async ({
  open,
  model,
  server,
}) => {
  await server.call("POST", "/sessions", { title: "Chosen by thumb" });
  const device = await open(PHONE);
  const tab = await device.tab();
  await tab.hides(tab.sessions);
  await tab.button(/^Sessions/).tap();
  await tab.sessions.getByRole("link", { name: /Chosen by thumb/ }).tap();
  await tab.hides(tab.sessions);

  await tab.write("From the train");
  await tab.button(/^Send/).tap();
  const exchange = await model.next("From the train");
  exchange.text(`${"A long answer. ".repeat(200)}\n\n\`${"unbroken".repeat(40)}\``);
  await tab.lastAnswer.getByText("A long answer").first().waitFor();
  for (const part of [tab.field, tab.stop]) {
    const box = await part.boundingBox();
    expect(box, "it is on the screen").not.toBeNull();
    if (!box) continue;
    expect(box.y + box.height).toBeLessThanOrEqual(844);
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(390);
  }
  const wide = await tab.page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide, "nothing sticks out").toBeLessThanOrEqual(390);
  const thumb = await tab.stop.boundingBox();
  expect(Math.min(thumb?.width ?? 0, thumb?.height ?? 0)).toBeGreaterThanOrEqual(40);
  await tab.stop.tap();
  await exchange.closed();
  await tab.sees("Stopped by you.");
});
