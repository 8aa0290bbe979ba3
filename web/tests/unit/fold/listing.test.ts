import { expect, test } from "vitest";
import { Listing } from "$/fold/listing";
import type { Event, Run, Session } from "$/wire/types";
import { golden } from "./golden";

const told = golden.find(({ name }) => name === "streaming");
if (told === undefined) throw new Error("no golden file");
const { session: model } = told;
const someRun = told.snapshots.at(-1)?.runs[0];
if (someRun === undefined) throw new Error("no run");

function session(id: string, minute: number, more: Partial<Session> = {}): Session {
  return { ...model, id, updated_at: at(minute), ...more };
}

function at(minute: number): string {
  return `2030-01-01T00:${String(minute).padStart(2, "0")}:00.000Z`;
}

function run(id: string, more: Partial<Run> = {}): Run {
  return { ...(someRun as Run), id, ...more };
}

function listing(...sessions: Session[]): Listing {
  const made = new Listing();
  const workspace = {
    id: "default",
    name: "Default",
    path: "",
    home: null,
    rules: [],
    by: "owner",
    created_at: at(0),
  };
  made.replace({ type: "snapshot", seq: 10, workspace, sessions, next: null, runs: [] });
  return made;
}

let seq = 10;
type Told = Event extends infer E ? (E extends Event ? Omit<E, "seq" | "run_id"> : never) : never;
function event(told: Told): Event {
  return { ...told, seq: ++seq, run_id: null } as Event;
}

const ids = (list: Listing) => list.items().map(({ id }) => id);

test("sessions are in the order of their activity, the newest first", () => {
  const list = listing(session("a", 1), session("c", 3), session("b", 2));
  expect(ids(list)).toEqual(["c", "b", "a"]);
  const accepted = event({ type: "run.accepted", session_id: "a", at: at(4), run: run("r1") });
  expect(list.apply(accepted, 0)).toBe("applied");
  expect(ids(list)).toEqual(["a", "c", "b"]);
});

test("of two with the same moment the newer id comes first, as the server has it", () => {
  expect(ids(listing(session("a", 1), session("b", 1)))).toEqual(["b", "a"]);
});

test("a change of settings moves nothing, an ending does", () => {
  const list = listing(session("a", 1), session("b", 2));
  list.apply(
    event({ type: "session.updated", session_id: "a", at: at(5), changes: { title: "T" } }),
    0,
  );
  expect(ids(list)).toEqual(["b", "a"]);
  expect(list.get("a")?.title).toBe("T");
  list.apply(event({ type: "run.finished", session_id: "a", at: at(6), run: run("r1") }), 0);
  expect(ids(list)).toEqual(["a", "b"]);
});

test("its state follows its runs and approvals", () => {
  const list = listing(session("a", 1));
  const approval = { id: "p", session_id: "a", run_id: "r1", call_id: "c", tool: "shell" };
  const asks = { ...approval, input: {}, suggestions: [], decided_by: null, note: null };
  const state = () => list.get("a")?.state;
  list.apply(event({ type: "run.accepted", session_id: "a", at: at(2), run: run("r1") }), 0);
  expect([state(), list.get("a")?.queued]).toEqual(["idle", 1]);
  list.apply(event({ type: "run.started", session_id: "a", at: at(2), run: run("r1") }), 0);
  expect([state(), list.get("a")?.queued]).toEqual(["running", 0]);
  const requested = { ...asks, state: "pending" as const };
  list.apply(
    event({ type: "approval.requested", session_id: "a", at: at(2), approval: requested }),
    0,
  );
  expect(state()).toBe("waiting");
  const resolved = { ...asks, state: "allowed" as const };
  list.apply(
    event({ type: "approval.resolved", session_id: "a", at: at(2), approval: resolved }),
    0,
  );
  expect(state()).toBe("running");
  list.apply(event({ type: "run.finished", session_id: "a", at: at(3), run: run("r1") }), 0);
  expect(state()).toBe("idle");
});

test("what is created appears, what is deleted or archived goes", () => {
  const list = listing(session("a", 1));
  list.apply(
    event({ type: "session.created", session_id: "b", at: at(2), session: session("b", 2) }),
    0,
  );
  expect(ids(list)).toEqual(["b", "a"]);
  list.apply(
    event({ type: "session.updated", session_id: "a", at: at(3), changes: { archived: true } }),
    0,
  );
  expect(ids(list)).toEqual(["b"]);
  list.apply(event({ type: "session.deleted", session_id: "b", at: at(4) }), 0);
  expect(ids(list)).toEqual([]);
});

test("an event that was seen is not applied again", () => {
  const list = listing(session("a", 1));
  const accepted = event({ type: "run.accepted", session_id: "a", at: at(2), run: run("r1") });
  expect(list.apply(accepted, 0)).toBe("applied");
  expect(list.apply(accepted, 0)).toBe("seen");
  expect(list.get("a")?.queued).toBe(1);
});

test("the server is asked about a session that is not known", () => {
  const list = listing(session("a", 1));
  const accepted = event({ type: "run.accepted", session_id: "old", at: at(2), run: run("r1") });
  expect(list.apply(accepted, 0)).toBe("ask");
});

test("what was asked for may be ahead of the events, so they are not counted twice", () => {
  const list = listing(session("a", 1));
  list.put([session("old", 2, { queued: 1 })], 1_000);
  const accepted = event({ type: "run.accepted", session_id: "old", at: at(2), run: run("r1") });
  expect(list.apply(accepted, 2_000)).toBe("ask");
  expect(list.get("old")?.queued).toBe(1);
  const later = event({ type: "run.accepted", session_id: "old", at: at(3), run: run("r2") });
  expect(list.apply(later, 9_000)).toBe("applied");
  expect(list.get("old")?.queued).toBe(2);
});
