import { expect } from "vitest";
import { Relay } from "./support/relay.ts";
import { test } from "./support/test.ts";

/** What a browser says when nobody listens any more. */
const REFUSED = /net::ERR_/;

test("after kill -9 in mid-answer the page goes on by itself, and Continue works", async ({
  open,
  own,
  model,
}) => {
  const server = await own();
  const device = await open(undefined, { url: server.url });
  device.allowed.push(REFUSED);
  const tab = await device.tab();
  await tab.send("Tell it all");
  const exchange = await model.next("Tell it all");
  exchange.text("The beginning, ");
  exchange.text("and the **middle**");
  await tab.shows("Tell it all", "The beginning, and the middle");

  let loads = 0;
  tab.page.on("load", () => loads++);
  await server.kill();
  await tab.sees(/No connection to the server/);
  await tab.shows("Tell it all", "The beginning, and the middle");

  await server.up();
  await tab.sees("The server restarted. Everything up to here is saved.");
  await tab.hides(tab.text(/No connection to the server/));
  await tab.shows("Tell it all", "The beginning, and the middle");
  await tab.hides(tab.stop);

  await tab.button("Continue").click();
  const next = await model.next();
  expect(next.context).toContain("The beginning, and the **middle**");
  next.say(", and the end.");
  await expect.poll(async () => (await tab.transcript()).join(" ")).toContain("and the end.");
  expect(loads).toBe(0);
});

test("what is sent while the server is dead is there exactly once after its restart", async ({
  open,
  own,
  model,
}) => {
  const server = await own();
  const device = await open(undefined, { url: server.url });
  device.allowed.push(REFUSED);
  const tab = await device.tab();
  await tab.send("Are you there");
  (await model.next("Are you there")).say("Yes.");
  await tab.shows("Are you there", "Yes.");

  await server.kill();
  await tab.send("And now");
  await tab.sees(/Not sent yet: the server cannot be reached/);
  await expect.poll(() => tab.field.inputValue()).toBe("And now");
  await server.up();
  (await model.next("And now")).say("Again.");
  await tab.shows("Are you there", "Yes.", "And now", "Again.");
  await expect.poll(() => tab.field.inputValue()).toBe("");
  const { runs } = await server.call<{ runs: unknown[] }>("GET", `/sessions/${tab.session}/runs`);
  expect(runs).toHaveLength(2);
});

test("a prompt whose answer was lost on the way is there exactly once", async ({
  open,
  server,
  model,
}) => {
  const relay = await Relay.start(server.port);
  try {
    const device = await open(undefined, { url: relay.url });
    device.allowed.push(REFUSED);
    const tab = await device.tab();
    await tab.send("Hello");
    (await model.next("Hello")).say("Hi.");
    await tab.shows("Hello", "Hi.");
    let lost = 0;
    relay.loseAnswer((method, path) => {
      const hit = method === "POST" && path.endsWith("/runs");
      lost += hit ? 1 : 0;
      return hit;
    });
    await tab.send("Only once");
    (await model.next("Only once")).say("Once.");
    await tab.shows("Hello", "Hi.", "Only once", "Once.");
    await expect.poll(() => tab.field.inputValue()).toBe("");
    expect(lost).toBeGreaterThan(0);
    const { runs } = await server.call<{ runs: unknown[] }>("GET", `/sessions/${tab.session}/runs`);
    expect(runs).toHaveLength(2);
  } finally {
    await relay.close();
  }
});
