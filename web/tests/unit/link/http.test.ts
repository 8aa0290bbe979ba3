import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { api, doors } from "$/link/http";
import { Problem } from "$/link/problem";

type Answer = Response | Error;

const sent: { url: string; init: RequestInit }[] = [];
let answers: Answer[] = [];

function problem(status: number, code: string, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify({ status, code, detail: `it is ${code}` }), {
    status,
    headers,
  });
}

function keys(): (string | null)[] {
  return sent.map(({ init }) => new Headers(init.headers).get("Idempotency-Key"));
}

beforeEach(() => {
  vi.useFakeTimers();
  sent.length = 0;
  answers = [];
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    sent.push({ url, init });
    const answer = answers.shift() ?? new Error("no network");
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("an answer that is lost is asked for again with the same key and body", async () => {
  answers = [new Error("lost"), new Response("", { status: 502 }), new Response('{"id":"r"}')];
  const run = api.post("/api/sessions/s/runs", { input: "hi" });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await run).toEqual({ id: "r" });
  expect(sent).toHaveLength(3);
  expect(new Set(keys()).size).toBe(1);
  expect(keys()[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(new Set(sent.map(({ init }) => init.body))).toEqual(new Set(['{"input":"hi"}']));
});

test("two calls have two keys, and a given key is used", async () => {
  answers = [new Response("{}"), new Response("{}"), new Response("{}")];
  await api.post("/x", {});
  await api.post("/x", {});
  await api.post("/x", {}, { key: "mine" });
  expect(new Set(keys()).size).toBe(3);
  expect(keys()[2]).toBe("mine");
});

test("a server that is stopping is asked again when it says", async () => {
  answers = [problem(503, "shutting_down", { "Retry-After": "5" }), new Response("{}")];
  const done = api.post("/x", {});
  await vi.advanceTimersByTimeAsync(4_900);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(200);
  await done;
  expect(sent).toHaveLength(2);
});

test("after a minute it is given up as offline", async () => {
  const failed = api.get("/x").catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(61_000);
  const error = await failed;
  expect(error).toBeInstanceOf(Problem);
  expect(error).toMatchObject({ code: "offline", status: 0 });
});

test("what must not be done twice is not asked for again", async () => {
  await expect(api.post("/undo", {}, { again: "never" })).rejects.toMatchObject({
    code: "offline",
  });
  expect(sent).toHaveLength(1);
});

test("a refusal is told as it is, and not repeated", async () => {
  answers = [problem(409, "session_busy")];
  await expect(api.post("/x", {})).rejects.toMatchObject({
    status: 409,
    code: "session_busy",
    detail: "it is session_busy",
  });
  expect(sent).toHaveLength(1);
});

test("a delete whose answer was lost has succeeded when the thing is gone", async () => {
  answers = [new Error("lost"), problem(404, "not_found")];
  const done = api.delete("/x");
  await vi.advanceTimersByTimeAsync(1_000);
  await expect(done).resolves.toBeUndefined();
});

test("a delete of what never was is refused", async () => {
  answers = [problem(404, "not_found")];
  await expect(api.delete("/x")).rejects.toMatchObject({ code: "not_found" });
});

test("who is not known is shown the door", async () => {
  const door = vi.spyOn(doors, "unauthorized").mockReturnValue(undefined);
  answers = [problem(401, "unauthorized")];
  await expect(api.get("/x")).rejects.toMatchObject({ code: "unauthorized" });
  expect(door).toHaveBeenCalledOnce();
});

test("questions leave out what was not said", async () => {
  answers = [new Response("{}")];
  await api.get("/x", { a: 1, b: null, c: undefined, d: "", e: false, f: "ö&=" });
  expect(sent[0]?.url).toBe("/x?a=1&e=false&f=%C3%B6%26%3D");
});
