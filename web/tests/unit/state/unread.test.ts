import { beforeEach, expect, test, vi } from "vitest";
import type { Unread } from "$/state/unread.svelte";
import type { Session } from "$/wire/types";
import { golden } from "../fold/golden";

const kept = new Map<string, string>();
let told: ((event: { key: string }) => void)[] = [];

async function browser(): Promise<Unread> {
  const { Unread } = await import("$/state/unread.svelte");
  return new Unread();
}

function session(minute: number, more: Partial<Session> = {}): Session {
  const model = golden[0]?.session;
  if (model === undefined) throw new Error("no golden file");
  return { ...model, id: "a", state: "idle", updated_at: at(minute), ...more };
}

const at = (minute: number) => `2030-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`;

beforeEach(() => {
  kept.clear();
  told = [];
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
  vi.stubGlobal("addEventListener", (_: string, hear: (event: { key: string }) => void) => {
    told.push(hear);
  });
});

test("what is old when a browser comes for the first time is not unread", async () => {
  const unread = await browser();
  unread.begin(at(5));
  expect(unread.has(session(4))).toBe(false);
  expect(unread.has(session(6))).toBe(true);
});

test("what was looked at is read until something else happens", async () => {
  const unread = await browser();
  unread.begin(at(0));
  unread.looked(session(3));
  expect(unread.has(session(3))).toBe(false);
  expect(unread.has(session(4))).toBe(true);
});

test("a session that works is not unread; one that asks is", async () => {
  const unread = await browser();
  unread.begin(at(0));
  unread.looked(session(3));
  expect(unread.has(session(4, { state: "running" }))).toBe(false);
  unread.happened("a", at(5));
  expect(unread.has(session(3, { state: "waiting" }))).toBe(true);
});

test("it is remembered by the browser, and told to its other tabs", async () => {
  const one = await browser();
  one.begin(at(0));
  const two = await browser();
  expect(two.has(session(3))).toBe(true);
  one.looked(session(3));
  for (const hear of told) hear({ key: "tenuto.seen" });
  expect(two.has(session(3))).toBe(false);
  expect((await browser()).has(session(3))).toBe(false);
});

test("it works where nothing may be stored", async () => {
  vi.stubGlobal("localStorage", {
    getItem: () => {
      throw new Error("not allowed");
    },
    setItem: () => {
      throw new Error("not allowed");
    },
  });
  const unread = await browser();
  unread.begin(at(0));
  unread.looked(session(3));
  expect(unread.has(session(3))).toBe(false);
});
