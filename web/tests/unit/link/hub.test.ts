import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Hub, type Tab } from "$/link/hub";
import type { LinkState, ToHub, ToTab } from "$/link/protocol";
import { FakeNetwork } from "./streams";

let network: FakeNetwork;
let hub: Hub;

class Screen {
  readonly seen: string[] = [];
  readonly states: LinkState[] = [];
  readonly said: string[] = [];
  readonly tab: Tab;

  constructor() {
    this.tab = hub.join({ post: (word) => this.#hear(word) });
  }

  say(word: ToHub): void {
    hub.hear(this.tab, word);
  }

  follow(id: string, cursor: number | null = null): void {
    this.say({ say: "follow", log: { kind: "session", id, cursor } });
  }

  #hear(word: ToTab): void {
    this.said.push(word.say);
    if (word.say === "state") this.states.push(word.state);
    if (word.say !== "pieces") return;
    for (const { log, kind, data } of word.pieces) {
      const { seq } = JSON.parse(data) as { seq?: number };
      this.seen.push(`${log} ${kind === "event" ? "" : kind}${seq ?? ""}`);
    }
  }
}

const settle = () => vi.advanceTimersByTimeAsync(20);

beforeEach(() => {
  vi.useFakeTimers();
  network = new FakeNetwork();
  hub = new Hub(network.fetch, () => 1);
});

afterEach(() => {
  vi.useRealTimers();
});

test("a tab gets the snapshot of what it follows, and then each event once", async () => {
  const screen = new Screen();
  screen.follow("a");
  await settle();
  expect(network.last.logs()).toEqual(["a:now"]);
  await network.last.open();
  await network.last.snapshot("a", 4);
  await network.last.event("a", 5);
  await network.last.event("a", 5);
  await network.last.event("a", 6);
  await settle();
  expect(screen.seen).toEqual(["a snapshot4", "a 5", "a 6"]);
});

test("ten tabs share one stream", async () => {
  const screens = Array.from({ length: 10 }, () => new Screen());
  screens.forEach((screen, n) => screen.follow(`s${n}`));
  await settle();
  expect(network.streams).toHaveLength(1);
  expect(network.last.logs()).toHaveLength(10);
  await network.last.open();
  await network.last.snapshot("s3", 1);
  await network.last.event("s3", 2);
  await settle();
  expect(screens[3]?.seen).toEqual(["s3 snapshot1", "s3 2"]);
  expect(screens[4]?.seen).toEqual([]);
});

test("when the set changes, the new stream takes over from where the old one is", async () => {
  const one = new Screen();
  one.follow("a");
  await settle();
  const old = network.last;
  await old.open();
  await old.snapshot("a", 4);
  const two = new Screen();
  two.follow("b");
  await settle();
  const next = network.last;
  expect(next.logs()).toEqual(["a:4", "b:now"]);
  // Nothing stalls while the new one is on its way.
  await old.event("a", 5);
  expect(old.aborted).toBe(false);
  await next.open();
  expect(old.aborted).toBe(true);
  await next.event("a", 5);
  await next.event("a", 6);
  await next.snapshot("b", 0);
  await settle();
  expect(one.seen).toEqual(["a snapshot4", "a 5", "a 6"]);
  expect(two.seen).toEqual(["b snapshot0"]);
  expect(one.states).toEqual(["connecting", "online"]);
});

test("a second tab of a session gets a snapshot of its own, and misses nothing", async () => {
  const one = new Screen();
  one.follow("a");
  await settle();
  const shared = network.last;
  await shared.open();
  await shared.snapshot("a", 4);
  const two = new Screen();
  two.follow("a");
  await settle();
  const own = network.last;
  expect(own).not.toBe(shared);
  expect(own.logs()).toEqual(["a:now"]);
  await shared.event("a", 5);
  await shared.event("a", 6);
  await own.open();
  await own.snapshot("a", 5);
  await shared.event("a", 7);
  await settle();
  expect(two.seen).toEqual(["a snapshot5", "a 6", "a 7"]);
  expect(one.seen).toEqual(["a snapshot4", "a 5", "a 6", "a 7"]);
  expect(own.aborted).toBe(true);
  expect(shared.aborted).toBe(false);
});

test("a snapshot of its own that cannot be had is asked for again", async () => {
  const one = new Screen();
  one.follow("a");
  await settle();
  const shared = network.last;
  await shared.open();
  await shared.snapshot("a", 4);
  const two = new Screen();
  two.follow("a");
  await network.last.fail();
  await shared.event("a", 5);
  await vi.advanceTimersByTimeAsync(300);
  await network.last.open();
  await network.last.snapshot("a", 5);
  await shared.event("a", 6);
  await settle();
  expect(two.seen).toEqual(["a snapshot5", "a 6"]);
});

test("a lost connection goes on with its cursors, a little later each time", async () => {
  const screen = new Screen();
  screen.follow("a");
  await settle();
  await network.last.open();
  await network.last.snapshot("a", 4);
  await network.last.event("a", 5);
  await network.last.end();
  await settle();
  expect(screen.states.at(-1)).toBe("offline");
  for (const pause of [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]) {
    const before = network.streams.length;
    await vi.advanceTimersByTimeAsync(pause - 30);
    expect(network.streams).toHaveLength(before);
    await vi.advanceTimersByTimeAsync(60);
    expect(network.streams).toHaveLength(before + 1);
    expect(network.last.logs()).toEqual(["a:5"]);
    await network.last.fail();
  }
  screen.say({ say: "wake" });
  await network.last.open();
  expect(screen.states.at(-1)).toBe("online");
  await network.last.event("a", 6);
  await settle();
  expect(screen.seen).toEqual(["a snapshot4", "a 5", "a 6"]);
});

test("a stream that says nothing for long is given up", async () => {
  const screen = new Screen();
  screen.follow("a");
  await settle();
  const stream = network.last;
  await stream.open();
  await vi.advanceTimersByTimeAsync(20_000);
  await stream.send(": still here\n\n");
  await vi.advanceTimersByTimeAsync(20_000);
  expect(stream.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(6_000);
  expect(stream.aborted).toBe(true);
  expect(network.last).not.toBe(stream);
});

test("someone looks again after a sleep: the silent stream is not waited for", async () => {
  const screen = new Screen();
  screen.follow("a");
  await settle();
  const stream = network.last;
  await stream.open();
  screen.say({ say: "wake" });
  expect(stream.aborted).toBe(false);
  vi.setSystemTime(Date.now() + 15_000);
  screen.say({ say: "wake" });
  expect(stream.aborted).toBe(true);
});

test("a cursor that the server refuses brings a snapshot to everyone", async () => {
  const screen = new Screen();
  screen.follow("a", 900);
  await settle();
  expect(network.last.logs()).toEqual(["a:900"]);
  await network.last.open();
  await network.last.snapshot("a", 12);
  await network.last.event("a", 13);
  await settle();
  expect(screen.seen).toEqual(["a snapshot12", "a 13"]);
});

test("a session that is gone does not disturb the others, and is not asked for again", async () => {
  const screen = new Screen();
  screen.follow("a");
  screen.follow("b");
  await settle();
  await network.last.open();
  await network.last.gone("a");
  await network.last.snapshot("b", 1);
  await network.last.end();
  await vi.advanceTimersByTimeAsync(300);
  expect(screen.seen).toEqual(["a gone", "b snapshot1"]);
  expect(network.last.logs()).toEqual(["b:1"]);
});

test("what only a tab followed that is gone is not followed any longer", async () => {
  const one = new Screen();
  const two = new Screen();
  one.follow("a");
  two.follow("b");
  await settle();
  await network.last.open();
  await network.last.snapshot("a", 1);
  await network.last.snapshot("b", 1);
  hub.part(one.tab);
  await settle();
  expect(network.last.logs()).toEqual(["b:1"]);
  await network.last.open();
  two.say({ say: "leave", id: "b" });
  await settle();
  expect(network.last.aborted).toBe(true);
});

test("a tab that was taken for gone says again what it follows", async () => {
  const screen = new Screen();
  screen.follow("a");
  await settle();
  hub.part(screen.tab);
  screen.say({ say: "alive" });
  expect(screen.said.at(-1)).toBe("who");
});

test("who is not known is told so, and can begin again", async () => {
  const screen = new Screen();
  screen.follow("a");
  await settle();
  await network.last.refuse(401);
  expect(screen.said.at(-1)).toBe("unauthorized");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(network.streams).toHaveLength(1);
  screen.follow("a");
  await settle();
  expect(network.streams).toHaveLength(2);
});
