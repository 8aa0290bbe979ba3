import { randomBytes } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { expect } from "vitest";
import { ModelServer } from "./support/model.ts";
import { test } from "./support/test.ts";

test("effort is chosen by keyboard, asked of the model, and stays chosen", async ({
  open,
  own,
}) => {
  const thinker = await ModelServer.start();
  thinker.models = ["gpt-oss-20b"];
  try {
    const server = await own({}, thinker.url);
    const device = await open(undefined, { url: server.url });
    const tab = await device.tab();
    await tab.button(/^Effort: Default/).press("Enter");
    await tab.page.getByRole("radio", { name: /^Default/, checked: true }).waitFor();
    await tab.page.keyboard.press("ArrowUp");
    await tab.page.keyboard.press("Enter");
    await tab.button(/^Effort: High/).waitFor();

    await tab.send("Think about it");
    const exchange = await thinker.next("Think about it");
    expect(exchange.effort).toBe("high");
    exchange.say("I have.");
    await tab.lastAnswer.getByText(/gpt-oss-20b · high effort/).waitFor();

    await tab.page.reload();
    await tab.button(/^Effort: High/).waitFor();

    await tab.send("And once more");
    const refusing = await thinker.next("And once more");
    refusing.fail(400, "Unrecognized request argument supplied: reasoning_effort");
    const again = await thinker.next("And once more");
    expect(again.effort).toBe(undefined);
    again.say("Without, then.");
    await tab.lastAnswer.getByText(/The model does not take `reasoning_effort`/).waitFor();
  } finally {
    await thinker.close();
  }
});

test("a model without a choice of efforts shows none", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.button(/^Model: test-model/).waitFor();
  expect(await tab.button(/^Effort/).count()).toBe(0);
  await tab.send("Just say");
  const exchange = await model.next("Just say");
  expect(exchange.effort).toBe(undefined);
  exchange.say("So.");
  await tab.shows("Just say", "So.");
});

test("a run that waits for its provider says why and until when, and goes on", async ({
  device,
  model,
}) => {
  const tab = await device.tab();
  await tab.send("Be patient");
  (await model.next("Be patient")).fail(429, "Slow down", { "retry-after": "6" });
  const line = tab.lastAnswer.getByText(/Trying again at \d\d:\d\d:\d\d \(attempt 2\)/);
  await line.waitFor();
  await tab.lastAnswer.getByText(/had too many requests \(429\).*Slow down\./).waitFor();
  await tab.page
    .locator("[aria-live=polite]")
    .getByText(/Slow down\. The provider is asked again\./)
    .waitFor();
  (await model.next("Be patient")).say("Here I am");
  await tab.shows("Be patient", "Here I am");
  await tab.hides(line);
});

test("a run that waits for its provider can be stopped", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Wait for long");
  (await model.next("Wait for long")).fail(503, "No room", { "retry-after": "60" });
  const line = tab.lastAnswer.getByText(/Trying again at/);
  await line.waitFor();
  await tab.stop.click();
  await tab.sees("Stopped by you.");
  await tab.hides(line);
});

test("a refused key leads to the provider's settings", async ({ device, model }) => {
  const tab = await device.tab();
  await tab.send("Open up");
  (await model.next("Open up")).fail(401, "Incorrect API key provided");
  await tab.sees(/refused the key \(401\)/);
  await tab.button("Provider settings").click();
  await expect.poll(() => new URL(tab.page.url()).pathname).toBe("/settings/providers");
});

test("a model that is gone is changed for another one, for the next prompt too", async ({
  device,
  model,
  server,
}) => {
  const tab = await device.tab();
  await tab.send("Who is there");
  (await model.next("Who is there")).fail(404, "The model does not exist");
  await tab.button("Choose another model").click();
  await tab.page.getByRole("dialog").getByText("alpha").click();
  const exchange = await model.next("Who is there");
  expect(exchange.model).toBe("alpha");
  exchange.say("Alpha is");
  await tab.shows("Who is there", "Alpha is");
  const session = await server.call<{ model: string }>("GET", `/sessions/${tab.session}`);
  expect(session.model).toBe("openai/alpha");
});

test("a large image is made smaller before it is sent", async ({ device }) => {
  const tab = await device.tab();
  const answered = tab.page.waitForResponse((response) => response.url().endsWith("/api/files"));
  const buffer = noise(2600, 1300);
  await tab.page
    .locator("input[type=file]")
    .setInputFiles({ name: "noise.png", mimeType: "image/png", buffer });
  const file = (await (await answered).json()) as { id: string; name: string; size: number };
  expect(buffer.length).toBeGreaterThan(9_000_000);
  expect(file.size).toBeLessThan(3.5 * 1024 * 1024);
  expect(file.name).toBe("noise.png");
  const size = await tab.page.evaluate(async (id) => {
    const image = await createImageBitmap(await (await fetch(`/api/files/${id}`)).blob());
    return [image.width, image.height];
  }, file.id);
  expect(size).toEqual([2000, 1000]);
});

/** A PNG of random dots: nothing can be packed in it. */
function noise(width: number, height: number): Buffer {
  const rows = Array.from({ length: height }, () =>
    Buffer.concat([Buffer.alloc(1), randomBytes(width * 3)]),
  );
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const pieces = [
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.concat(rows), { level: 0 })),
    chunk("IEND", Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), ...pieces]);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
