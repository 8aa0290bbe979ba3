import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Notices } from "$/state/notices.svelte";
import { Regrets } from "$/state/regrets";
import { SessionList } from "$/state/sessions.svelte";
import { Unread } from "$/state/unread.svelte";
import type { Session } from "$/wire/types";
import { golden } from "../fold/golden";
import {
  browse,
  closeBrowser,
  refusal,
  settled,
  unreachable,
  type Server,
} from "../support/browser";
import { TestLogs } from "../support/logs";

let server: Server;
let logs: TestLogs;
let notices: Notices;
let regrets: Regrets;
let gone: () => void;
let list: SessionList;

beforeEach(async () => {
  ({ server } = browse());
  logs = new TestLogs();
  notices = new Notices();
  regrets = new Regrets();
  gone = vi.fn<() => void>();
  list = new SessionList("w", { link: logs, notices, regrets, unread: new Unread(), gone });
  const workspace = { id: "w", name: "W", path: "" };
  const sessions = [session("a", 1), session("b", 2)];
  logs.snapshot("w", { type: "snapshot", seq: 10, workspace, sessions, next: null, runs: [] });
  await settled();
});

afterEach(closeBrowser);

function session(id: string, minute: number): Session {
  const [model] = golden;
  if (model === undefined) throw new Error("no golden file");
  const updated_at = `2030-01-01T00:0${minute}:00.000Z`;
  return { ...model.session, id, workspace_id: "w", updated_at, state: "idle" };
}

const ids = (): string[] => list.items.map(({ id }) => id);

test("it shows what the workspace's log says", async () => {
  expect(ids()).toEqual(["b", "a"]);
  const common = { run_id: null, at: "2030-01-01T00:03:00.000Z" };
  const made = { type: "session.created", seq: 11, session_id: "c", session: session("c", 3) };
  logs.events("w", { ...common, ...made });
  logs.events("w", { ...common, type: "session.deleted", seq: 12, session_id: "b" });
  await settled();
  expect(ids()).toEqual(["c", "a"]);
});

test("a session that is not known is asked for once, however much happens in it", async () => {
  server.answer = () => session("z", 5);
  const common = { run_id: null, session_id: "z", at: "2030-01-01T00:05:00.000Z" };
  for (const seq of [11, 12, 13]) {
    logs.events("w", { ...common, seq, type: "session.updated", changes: { title: `${seq}` } });
  }
  await settled();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(server.to("/api/sessions/z")).toHaveLength(1);
  expect(ids()).toEqual(["z", "b", "a"]);
});

test("a new session is asked for under one key, however often its answer is lost", async () => {
  let tries = 0;
  server.answer = () => (++tries < 3 ? unreachable() : session("new", 9));
  const made = list.create({ model: "m/x" }, "key-session");
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await made).id).toBe("new");
  expect(server.calls.map(({ key }) => key)).toEqual(["key-session", "key-session", "key-session"]);
  expect(server.calls[0]?.body).toEqual({ workspace: "w", model: "m/x" });
  expect(ids()).toEqual(["new", "b", "a"]);
});

test("a removed session is hidden at once and deleted when it can no longer be undone", async () => {
  const removed = list.remove("a");
  expect(ids()).toEqual(["b"]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(server.calls).toEqual([]);
  await vi.advanceTimersByTimeAsync(2_000);
  await removed;
  expect(server.calls).toMatchObject([{ method: "DELETE", path: "/api/sessions/a" }]);
  expect(ids()).toEqual(["b"]);
});

test("a removal that is undone never reaches the server", async () => {
  const removed = list.remove("a");
  notices.all.at(-1)?.action?.do();
  await removed;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(ids()).toEqual(["b", "a"]);
  expect(server.calls).toEqual([]);
});

test("a removal that the server refuses is taken back, and said", async () => {
  server.answer = () => refusal(500, "internal");
  const removed = list.remove("a");
  await vi.advanceTimersByTimeAsync(7_000);
  await removed;
  expect(ids()).toEqual(["b", "a"]);
  expect(notices.all.map(({ text }) => text)).toContain("It could not be deleted.");
});

test("a session that someone else has deleted meanwhile stays away without a word", async () => {
  server.answer = () => refusal(404, "not_found");
  const removed = list.remove("a");
  await vi.advanceTimersByTimeAsync(7_000);
  await removed;
  expect(ids()).toEqual(["b"]);
  expect(notices.all.filter(({ kind }) => kind === "bad")).toEqual([]);
});

test("a removal is done at once when the page goes away, once and after its list is closed", async () => {
  const removed = list.remove("a");
  list.close();
  regrets.finish();
  await removed;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(server.calls).toMatchObject([
    { method: "DELETE", path: "/api/sessions/a", keepalive: true },
  ]);
});

test("a workspace that is gone is told", async () => {
  logs.gone("w");
  await settled();
  expect(gone).toHaveBeenCalledOnce();
});
