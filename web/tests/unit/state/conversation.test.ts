import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Conversation } from "$/state/conversation.svelte";
import type { Message, Snapshot } from "$/wire/types";
import { answer, run } from "../fixtures";
import { golden } from "../fold/golden";
import {
  browse,
  closeBrowser,
  Held,
  refusal,
  settled,
  unreachable,
  type Server,
} from "../support/browser";
import { TestLogs } from "../support/logs";

let server: Server;
let logs: TestLogs;

beforeEach(() => {
  ({ server } = browse());
  logs = new TestLogs();
});

afterEach(closeBrowser);

function told(name: string): (typeof golden)[number] {
  const found = golden.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no golden file ${name}`);
  return found;
}

const { snapshots, events } = told("streaming");
const last = snapshots.at(-1) as Snapshot;
const ID = last.session_id;

function messagesOf(conversation: Conversation): Message[] {
  return conversation.rows.map((row) => row.message);
}

async function opened(snapshot: Snapshot = last): Promise<Conversation> {
  const conversation = new Conversation(ID, logs);
  logs.snapshot(ID, snapshot);
  await settled();
  return conversation;
}

describe("what it shows", () => {
  test.each(golden.filter(({ name }) => name !== "deleted"))(
    "$name: what came live is what a reload shows",
    async ({ snapshots, events }) => {
      const [first, end] = [snapshots[0], snapshots.at(-1)];
      if (!first || !end) throw new Error("no snapshots");
      const conversation = new Conversation(end.session_id, logs);
      logs.snapshot(end.session_id, first);
      logs.events(end.session_id, ...events.slice(0, end.seq));
      await settled();
      expect(messagesOf(conversation)).toEqual(end.messages);
      expect(conversation.queue.map(({ id }) => id)).toEqual(end.queue);
      expect(conversation.pending).toEqual(end.approvals);
    },
  );

  test("a row stays while its message grows", async () => {
    const first = snapshots.find(({ messages }) => messages.length > 0) as Snapshot;
    const conversation = await opened(first);
    const row = conversation.rows[0];
    logs.events(ID, ...events);
    await settled();
    expect(conversation.rows[0]).toBe(row);
  });

  test("a gap is mended by a snapshot, and nothing is shown in between that is not so", async () => {
    const conversation = await opened(snapshots[0]);
    const shown = messagesOf(conversation);
    const far = events.find(({ seq }) => seq === last.seq);
    logs.events(ID, far);
    await settled();
    expect(logs.refollowed).toEqual([{ id: ID, cursor: null }]);
    expect(messagesOf(conversation)).toEqual(shown);
    logs.snapshot(ID, last);
    await settled();
    expect(conversation.phase).toBe("ready");
    expect(messagesOf(conversation)).toEqual(last.messages);
  });

  test("a session that never was is missing, one that goes is deleted", async () => {
    const missing = new Conversation("ses_x", logs);
    logs.gone("ses_x");
    await settled();
    expect(missing.phase).toBe("missing");
    const deleted = await opened();
    logs.gone(ID);
    await settled();
    expect(deleted.phase).toBe("deleted");
  });

  test("older messages come before the others, and not into a list that was replaced", async () => {
    const older = answer([], { id: "msg_0", run_id: null });
    const page = new Held<unknown>();
    server.answer = () => page.promise;
    const conversation = await opened({ ...last, more: true });
    const first = conversation.loadOlder();
    logs.snapshot(ID, { ...last, messages: last.messages.slice(1), more: true });
    await settled();
    page.settle({ messages: [older], before: null });
    await first;
    expect(messagesOf(conversation)).toEqual(last.messages.slice(1));
    await conversation.loadOlder();
    expect(messagesOf(conversation)).toEqual([older, ...last.messages.slice(1)]);
    expect(conversation.more).toBe(false);
  });
});

describe("a prompt", () => {
  test("whose answer is lost is asked for again under the same key", async () => {
    const conversation = await opened();
    let tries = 0;
    server.answer = () => (++tries < 3 ? unreachable() : run({ id: "run_9" }));
    const sent = conversation.send("hello", { key: "key-1", mode: "chat" });
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await sent).id).toBe("run_9");
    const calls = server.to(`/api/sessions/${ID}/runs`);
    expect(calls.map(({ key }) => key)).toEqual(["key-1", "key-1", "key-1"]);
    expect(calls.map(({ body }) => body)).toEqual(
      Array.from({ length: 3 }, () => ({ input: "hello", mode: "chat" })),
    );
  });

  test("that is refused is an error, and is not sent again", async () => {
    const conversation = await opened();
    server.answer = () => refusal(409, "queue_full");
    await expect(conversation.send("hello")).rejects.toMatchObject({ code: "queue_full" });
    expect(server.calls).toHaveLength(1);
  });
});

test("an undo whose answer is lost is not done twice", async () => {
  const conversation = await opened();
  server.answer = unreachable;
  await expect(conversation.undo()).rejects.toMatchObject({ code: "offline" });
  expect(server.calls).toHaveLength(1);
});

test("it is stopping until every stop has been answered", async () => {
  const conversation = await opened();
  const held = new Held<unknown>();
  server.answer = () => held.promise;
  const both = [conversation.stop(), conversation.cancelRun("run_1")];
  expect(conversation.stopping).toBe(true);
  held.settle({});
  await Promise.all(both);
  expect(conversation.stopping).toBe(false);
});

test("what was written and not saved is saved when it is closed, and it hears no more", async () => {
  const conversation = await opened();
  const saved = conversation.update({ draft: "half a" });
  conversation.close();
  await saved;
  expect(server.calls).toMatchObject([
    { method: "PATCH", path: `/api/sessions/${ID}`, body: { draft: "half a" }, keepalive: true },
  ]);
  expect(logs.listeners.size).toBe(0);
});
