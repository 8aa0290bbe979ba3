import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Writing } from "$/composer/writing.svelte";
import { Conversation } from "$/state/conversation.svelte";
import { app, route } from "$/state/page";
import { answer, run } from "../fixtures";
import {
  browse,
  closeBrowser,
  Held,
  refusal,
  settled,
  unreachable,
  type Memory,
  type Server,
} from "../support/browser";
import { TestLogs } from "../support/logs";

vi.mock("$/state/page", () => ({
  app: { sessions: { create: vi.fn() } },
  route: { go: vi.fn() },
}));

const HOW = { model: null, mode: "agent", effort: null, when_busy: "queue" } as const;
const RUNS = "/api/sessions/ses_1/runs";

let server: Server;
let memory: Memory;

beforeEach(() => {
  ({ server, memory } = browse());
  vi.mocked(app.sessions.create).mockReset();
  vi.mocked(route.go).mockReset();
});

afterEach(closeBrowser);

/** The field of a session's page, as it is when the page has just been opened. */
function opened(draft = ""): Writing {
  const writing = new Writing(new Conversation("ses_1", new TestLogs()));
  writing.hear(draft);
  return writing;
}

/** The field of the page where sessions begin. */
function home(): Writing {
  return new Writing(null);
}

describe("a prompt", () => {
  test("stays in the field until it is accepted", async () => {
    const held = new Held<unknown>();
    server.answer = ({ path }) => (path === RUNS ? held.promise : {});
    const writing = opened();
    writing.type("hello");
    const sent = writing.submit(HOW);
    await settled();
    expect(writing.text).toBe("hello");
    expect(writing.busy).toBe(true);
    held.settle(run());
    await sent;
    expect(writing.text).toBe("");
    expect(writing.busy).toBe(false);
    expect(server.to(RUNS)).toMatchObject([{ body: { input: "hello" } }]);
  });

  test("is sent once, however often send is pressed", async () => {
    const held = new Held<unknown>();
    server.answer = ({ path }) => (path === RUNS ? held.promise : {});
    const writing = opened();
    writing.type("hello");
    const presses = [writing.submit(HOW), writing.submit(HOW)];
    held.settle(run());
    await Promise.all(presses);
    await writing.submit(HOW);
    expect(server.to(RUNS)).toHaveLength(1);
  });

  test("goes on being sent while the server is away, always under the same key", async () => {
    let away = true;
    server.answer = ({ path }) => (away && path === RUNS ? unreachable() : run());
    const writing = opened();
    writing.type("hello");
    const sent = writing.submit(HOW);
    await vi.advanceTimersByTimeAsync(150_000);
    expect(writing.text).toBe("hello");
    away = false;
    await vi.advanceTimersByTimeAsync(10_000);
    await sent;
    expect(writing.text).toBe("");
    expect(server.to(RUNS).length).toBeGreaterThan(20);
    expect(new Set(server.to(RUNS).map(({ key }) => key)).size).toBe(1);
  });

  test("that is refused is still there with the reason, and is the same prompt when sent again", async () => {
    let full = true;
    server.answer = ({ path }) => (path === RUNS && full ? refusal(409, "queue_full") : run());
    const writing = opened();
    writing.type("hello");
    await writing.submit(HOW);
    expect(writing.text).toBe("hello");
    expect(writing.error).toBe("The queue is full. Wait until some of it is done.");
    full = false;
    await writing.submit(HOW);
    expect(writing.text).toBe("");
    const [first, second] = server.to(RUNS);
    expect(second?.key).toBe(first?.key);
  });

  test("with other words is another prompt", async () => {
    server.answer = ({ path }) => (path === RUNS ? refusal(409, "queue_full") : {});
    const writing = opened();
    writing.type("hello");
    await writing.submit(HOW);
    writing.type("hello there");
    await writing.submit(HOW);
    const [first, second] = server.to(RUNS);
    expect(second?.key).not.toBe(first?.key);
  });
});

describe("a page that is reloaded while a prompt is on its way", () => {
  async function interrupted(): Promise<string | null> {
    server.answer = ({ path }) => (path === RUNS ? new Promise(() => undefined) : {});
    const before = opened();
    before.type("hello");
    void before.submit(HOW);
    await settled();
    return server.to(RUNS)[0]?.key ?? null;
  }

  test("sends it again by itself, under the same key", async () => {
    const key = await interrupted();
    server.answer = () => run();
    const after = opened();
    expect(after.text).toBe("hello");
    await settled();
    expect(server.to(RUNS).map((call) => call.key)).toEqual([key, key]);
    expect(after.text).toBe("");
  });

  test("has it in the field while the server cannot be reached", async () => {
    await interrupted();
    server.answer = unreachable;
    const after = new Writing(new Conversation("ses_1", new TestLogs()));
    await settled();
    expect(after.text).toBe("hello");
  });

  test("does not send it by itself an hour later, and still has it", async () => {
    await interrupted();
    vi.setSystemTime(Date.now() + 61 * 60 * 1000);
    const after = opened();
    await settled();
    expect(after.text).toBe("hello");
    expect(server.to(RUNS)).toHaveLength(1);
  });

  test("keeps it from every other session", async () => {
    await interrupted();
    const other = new Writing(new Conversation("ses_2", new TestLogs()));
    expect(other.text).toBe("");
  });
});

describe("a prompt that is taken back", () => {
  test("is in the field again, and is not sent by itself after a reload", async () => {
    server.answer = ({ path }) => (path === RUNS ? new Promise(() => undefined) : {});
    const writing = opened();
    writing.type("hello");
    void writing.submit(HOW);
    await settled();
    writing.takeBack();
    expect(writing.busy).toBe(false);
    expect(writing.text).toBe("hello");
    const after = opened();
    await settled();
    expect(after.text).toBe("hello");
    expect(server.to(RUNS)).toHaveLength(1);
  });

  test("and was accepted all the same takes nothing away that was written since", async () => {
    const held = new Held<unknown>();
    server.answer = ({ path }) => (path === RUNS ? held.promise : {});
    const writing = opened();
    writing.type("hello");
    const sent = writing.submit(HOW);
    await settled();
    writing.takeBack();
    writing.type("something else");
    held.settle(run());
    await sent;
    expect(writing.text).toBe("something else");
  });
});

test("a chosen effort goes with the prompt, and with the first one of a session", async () => {
  vi.mocked(app.sessions.create).mockResolvedValue({ id: "ses_new" } as never);
  server.answer = () => run();
  for (const writing of [opened(), home()]) {
    writing.type("hello");
    await writing.submit({ ...HOW, effort: "high" });
  }
  expect(server.to(RUNS)[0]?.body).toMatchObject({ input: "hello", effort: "high" });
  expect(server.to("/api/sessions/ses_new/runs")[0]?.body).toMatchObject({ effort: "high" });
});

describe("the first prompt", () => {
  const MADE = { id: "ses_new" } as Awaited<ReturnType<typeof app.sessions.create>>;

  test("makes its session, is sent to it, and goes there", async () => {
    vi.mocked(app.sessions.create).mockResolvedValue(MADE);
    const writing = home();
    writing.type("hello");
    await writing.submit({ ...HOW, model: "m/x" });
    const [call] = server.to("/api/sessions/ses_new/runs");
    expect(call?.body).toEqual({ input: "hello", mode: "agent" });
    expect(app.sessions.create).toHaveBeenCalledExactlyOnceWith(
      { model: "m/x" },
      `${call?.key}-session`,
    );
    expect(route.go).toHaveBeenCalledExactlyOnceWith("/s/ses_new");
    expect(writing.text).toBe("");
  });

  test("that is refused leaves one session behind, not one for each try", async () => {
    vi.mocked(app.sessions.create).mockResolvedValue(MADE);
    server.answer = () => refusal(429, "rate_limited");
    const writing = home();
    writing.type("hello");
    await writing.submit(HOW);
    expect(writing.text).toBe("hello");
    expect(route.go).not.toHaveBeenCalled();
    server.answer = () => run();
    await writing.submit(HOW);
    expect(app.sessions.create).toHaveBeenCalledOnce();
    expect(route.go).toHaveBeenCalledExactlyOnceWith("/s/ses_new");
  });
});

describe("a draft", () => {
  test("is kept in this browser until the server has it", async () => {
    const saving = new Held<unknown>();
    server.answer = () => saving.promise;
    const writing = opened();
    writing.type("half a");
    await vi.advanceTimersByTimeAsync(1_000);
    expect(memory.values.get("tenuto.draft.ses_1")).toContain("half a");
    saving.settle({});
    await settled();
    expect(memory.values.has("tenuto.draft.ses_1")).toBe(false);
    expect(server.calls).toMatchObject([{ method: "PATCH", body: { draft: "half a" } }]);
  });

  test("from another device does not write over what is typed here", () => {
    const writing = opened("old");
    writing.type("old and mine");
    writing.hear("theirs");
    expect(writing.text).toBe("old and mine");
  });

  test("from another device is shown when nothing is typed here", () => {
    const writing = opened("old");
    writing.hear("theirs");
    expect(writing.text).toBe("theirs");
  });

  test("that could not be saved is joined to what was written elsewhere meanwhile", async () => {
    server.answer = unreachable;
    opened("old").type("old and mine");
    await settled();
    expect(opened("theirs").text).toBe("theirs\n\nold and mine");
  });
});

describe("a message that is changed", () => {
  const message = answer([{ id: "prt_1", type: "text", text: "first words" }], { role: "user" });

  test("puts what was in the field aside, and gives it back", () => {
    const writing = opened();
    writing.type("half a");
    writing.edit(message);
    expect(writing.text).toBe("first words");
    writing.leaveEdit();
    expect(writing.text).toBe("half a");
  });

  test("is sent in the message's place, and what was put aside comes back", async () => {
    server.answer = () => run();
    const writing = opened();
    writing.type("half a");
    writing.edit(message);
    writing.type("better words");
    await writing.submit(HOW);
    expect(server.to("/api/sessions/ses_1/edit")).toMatchObject([
      { body: { message_id: "msg_1", input: "better words" } },
    ]);
    expect(writing.text).toBe("half a");
  });
});
