import { expect } from "vitest";
import { Relay } from "./support/relay.ts";
import type { Tab } from "./support/tab.ts";
import { test } from "./support/test.ts";

const TEN = Array.from({ length: 10 }, (_, at) => at);
/** Ten tabs are a lot for a machine that has other work to do. */
const TEN_TABS_MS = 120_000;

test(
  "ten tabs stream ten sessions over one connection, and other requests get through",
  {
    timeout: TEN_TABS_MS,
  },
  async ({ open, server, model }) => {
    const relay = await Relay.start(server.port);
    try {
      const device = await open(undefined, { url: relay.url });
      const tabs: Tab[] = [];
      const sessions: string[] = [];
      for (const n of TEN) {
        const { id } = await server.call<{ id: string }>("POST", "/sessions", {
          title: `tab ${n}`,
        });
        sessions.push(id);
        tabs.push(await device.tab(`/s/${id}`));
        await server.call("POST", `/sessions/${id}/runs`, { input: `prompt ${n}`, mode: "chat" });
      }
      const exchanges = [];
      for (const n of TEN) exchanges.push(await model.next(`prompt ${n}`));
      for (const [n, exchange] of exchanges.entries()) exchange.text(`begin ${n}`);
      for (const [n, tab] of tabs.entries()) await tab.shows(`prompt ${n}`, `begin ${n}`);
      for (const exchange of exchanges) exchange.text(" and on");
      for (const [n, tab] of tabs.entries()) await tab.shows(`prompt ${n}`, `begin ${n} and on`);
      await expect.poll(() => streams(relay)).toEqual([sessions.toSorted()]);

      await tabs[9]?.stop.click();
      await exchanges[9]?.closed();
      await tabs[9]?.sees("Stopped by you.");
      for (const exchange of exchanges.slice(0, 9)) exchange.finish();
      for (const [n, tab] of tabs.entries()) await tab.shows(`prompt ${n}`, `begin ${n} and on`);
      await tabs[0]?.hides(tabs[0].stop);

      for (const tab of tabs.slice(1)) await tab.page.close();
      const [left] = tabs;
      await left?.send("prompt again");
      (await model.next("prompt again")).say("still here");
      await left?.shows("prompt 0", "begin 0 and on", "prompt again", "still here");
      // Only when it is known that the other tabs are gone is their part of the stream closed.
      await expect.poll(() => streams(relay)).toEqual([sessions.slice(0, 1)]);
    } finally {
      await relay.close();
    }
  },
);

/** The event streams of any kind that the browser holds open now: the sessions that each follows. */
function streams(relay: Relay): string[][] {
  return [...relay.open]
    .filter(({ pathname }) => pathname.endsWith("/events"))
    .map(({ searchParams }) => searchParams.getAll("session").map(idOf).toSorted());
}

function idOf(cursor: string): string {
  return cursor.split(":")[0] ?? "";
}

test("two devices show the same, and either can stop", async ({ open, model }) => {
  const one = await (await open()).tab();
  await one.send("For both");
  const exchange = await model.next("For both");
  exchange.text("The same");
  await one.shows("For both", "The same");
  const other = await (await open()).tab(`/s/${one.session}`);
  await other.shows("For both", "The same");
  exchange.text(" words");
  await one.shows("For both", "The same words");
  await other.shows("For both", "The same words");
  await other.stop.click();
  await exchange.closed();
  for (const tab of [one, other]) {
    await tab.sees("Stopped by you.");
    await tab.shows("For both", "The same words");
  }
});

test("a draft typed on one device appears on the other", async ({ open, server }) => {
  const { id } = await server.call<{ id: string }>("POST", "/sessions", { title: "Draft" });
  const one = await (await open()).tab(`/s/${id}`);
  const other = await (await open()).tab(`/s/${id}`);
  await other.field.waitFor();
  await one.field.pressSequentially("half a thou");
  await expect.poll(() => other.field.inputValue()).toBe("half a thou");
  await one.field.pressSequentially("ght");
  await expect.poll(() => other.field.inputValue()).toBe("half a thought");
});

test("a session that changes in one tab changes in the list of every other", async ({
  open,
  model,
}) => {
  const one = await (await open()).tab();
  const other = await (await open()).tab();
  await one.send("Seen from afar");
  const exchange = await model.next("Seen from afar");
  const row = other.sessions.getByRole("link", { name: /Seen from afar/ });
  await row.waitFor();
  await other.sessions.getByRole("img", { name: "Running" }).waitFor();
  exchange.say("done");
  await other.sessions.getByRole("img", { name: "New" }).waitFor();
});
