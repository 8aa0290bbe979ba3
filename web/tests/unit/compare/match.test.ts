import { afterEach, beforeEach, expect, test } from "vitest";
import { Match } from "$/compare/match.svelte";
import { Conversation } from "$/state/conversation.svelte";
import type { Comparison } from "$/wire/comparisons";
import { browse, closeBrowser, refusal, settled, type Call, type Server } from "../support/browser";
import { TestLogs } from "../support/logs";

const RUNS = "/api/comparisons/cmp_1/runs";

const COMPARISON: Comparison = {
  id: "cmp_1",
  workspace_id: "default",
  by: "owner",
  title: "",
  mode: "chat",
  blind: true,
  voted: false,
  winner: null,
  voted_at: null,
  created_at: "2030-01-01T00:00:00.000Z",
  panes: ["A", "B", "C"].map((label, index) => ({
    index,
    label,
    session_id: `ses_${index}`,
    model: null,
    state: "open",
  })),
};

let server: Server;
let logs: TestLogs;
let match: Match;
/** The lines that are open, each with how the server ends it. */
let lines: { call: Call; end: () => void }[];

beforeEach(async () => {
  ({ server } = browse());
  logs = new TestLogs();
  lines = [];
  server.answer = (call) => (call.path === RUNS ? line(call) : COMPARISON);
  match = new Match("cmp_1", (session) => new Conversation(session, logs));
  await match.load();
});

afterEach(closeBrowser);

function line(call: Call): Response {
  const body = new ReadableStream<Uint8Array>({
    start: (out) => {
      lines.push({ call, end: () => out.close() });
      call.signal?.addEventListener("abort", () => out.error(new Error("closed")));
    },
  });
  return new Response(body);
}

const asked = (): unknown[] => server.to(RUNS).map(({ body }) => body);
const to = (panes: number[]): object => ({ input: "why?", panes, on_disconnect: "cancel" });

test("one prompt goes to every pane on one line, and stops when the page is left", async () => {
  await match.ask("why?", "together");
  expect(asked()).toEqual([to([0, 1, 2])]);
  match.leave();
  expect(lines[0]?.call.signal?.aborted).toBe(true);
  expect(logs.listeners.size).toBe(0);
});

test("a pane that was closed is not asked", async () => {
  const [, second] = match.panes;
  if (second) await match.close(second);
  await match.ask("why?", "together");
  expect(asked()).toEqual([to([0, 2])]);
});

test("in turn each pane is asked when the one before it has ended", async () => {
  await match.ask("why?", "in_turn");
  await settled();
  expect(asked()).toEqual([to([0])]);
  expect(match.panes.map(({ waiting }) => waiting)).toEqual([false, true, true]);
  lines[0]?.end();
  await settled();
  expect(asked()).toEqual([to([0]), to([1])]);
  lines[1]?.end();
  await settled();
  expect(asked()).toEqual([to([0]), to([1]), to([2])]);
  expect(match.panes.map(({ waiting }) => waiting)).toEqual([false, false, false]);
});

test("a pane that is stopped before its turn is passed over", async () => {
  await match.ask("why?", "in_turn");
  const [, second] = match.panes;
  if (second) await match.stop(second);
  lines[0]?.end();
  await settled();
  expect(asked()).toEqual([to([0]), to([2])]);
});

test("to stop all is also to stop what would have come next", async () => {
  await match.ask("why?", "in_turn");
  await match.stopAll();
  lines[0]?.end();
  await settled();
  expect(asked()).toEqual([to([0])]);
  expect(match.busy).toBe(false);
  const stopped = [0, 1, 2].map((n) => server.to(`/api/sessions/ses_${n}/cancel`).length);
  expect(stopped).toEqual([1, 1, 1]);
});

test("turns that were stopped do not come back with the next prompt", async () => {
  await match.ask("why?", "in_turn");
  await match.stopAll();
  await match.ask("how?", "in_turn");
  lines[0]?.end();
  await settled();
  expect(asked()).toEqual([to([0]), { ...to([0]), input: "how?" }]);
});

test("a prompt that is refused is an error, so that whoever asked still has it", async () => {
  server.answer = () => refusal(409, "session_busy");
  await expect(match.ask("why?", "together")).rejects.toMatchObject({ code: "session_busy" });
  expect(match.busy).toBe(false);
});

test("a turn that is refused ends those after it", async () => {
  await match.ask("why?", "in_turn");
  server.answer = () => refusal(409, "session_busy");
  lines[0]?.end();
  await settled();
  expect(asked()).toEqual([to([0]), to([1])]);
  expect(match.busy).toBe(false);
});

test("a vote shows what the server then tells, in the panes that are there", async () => {
  const before = match.panes;
  const panes = COMPARISON.panes.map((pane) => ({ ...pane, model: `m/${pane.label}` }));
  server.answer = () => ({ ...COMPARISON, voted: true, winner: 1, panes });
  expect(match.hidden).toBe(true);
  await match.vote(1);
  expect(match.hidden).toBe(false);
  expect(match.panes).toEqual(before);
  expect(match.panes.map(({ shown }) => shown.model)).toEqual(["m/A", "m/B", "m/C"]);
});

test("a comparison that is gone is missing, one out of reach can be asked for again", async () => {
  server.answer = () => refusal(404, "not_found");
  await match.load();
  expect(match.phase).toBe("missing");
  server.answer = () => refusal(500, "internal");
  await match.load();
  expect(match.phase).toBe("failed");
  server.answer = () => COMPARISON;
  await match.load();
  expect(match.phase).toBe("ready");
});
