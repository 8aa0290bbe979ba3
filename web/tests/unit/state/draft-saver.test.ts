import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DraftSaver } from "$/state/draft-saver";

const sent: { url: string; init: RequestInit }[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  sent.length = 0;
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    sent.push({ url, init });
    return Promise.resolve(new Response("{}"));
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const bodies = () => sent.map(({ init }) => init.body);

test("it is saved once the writer pauses, and only what was written last", async () => {
  const draft = new DraftSaver("/api/sessions/s");
  void draft.write("H");
  await vi.advanceTimersByTimeAsync(300);
  const saved = draft.write("He");
  await vi.advanceTimersByTimeAsync(300);
  expect(sent).toHaveLength(0);
  await vi.advanceTimersByTimeAsync(200);
  await saved;
  expect(bodies()).toEqual(['{"draft":"He"}']);
});

test("the page goes away: it is saved at once, with a request that outlives the page", async () => {
  const draft = new DraftSaver("/api/sessions/s");
  const saved = draft.write("Hel");
  draft.flush();
  await saved;
  expect(bodies()).toEqual(['{"draft":"Hel"}']);
  expect(sent[0]?.init.keepalive).toBe(true);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toHaveLength(1);
});

test("nothing that was not written is saved", () => {
  new DraftSaver("/api/sessions/s").flush();
  expect(sent).toHaveLength(0);
});

test("an empty draft is saved too: the prompt was sent", async () => {
  const draft = new DraftSaver("/api/sessions/s");
  const saved = draft.write("");
  await vi.advanceTimersByTimeAsync(500);
  await saved;
  expect(bodies()).toEqual(['{"draft":""}']);
});
