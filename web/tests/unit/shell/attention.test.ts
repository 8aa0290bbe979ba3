import { expect, test } from "vitest";
import { spoken, tabTitle, Watcher, type Moment } from "$/shell/attention";
import type { Session } from "$/wire/types";

function session(id: string, state: Session["state"], waiting_approvals = 0): Session {
  return { id, state, waiting_approvals } as Session;
}

function what(watcher: Watcher, ...sessions: Session[]): string[] {
  return watcher.look(sessions).map((one) => `${one.session.id} ${one.what}`);
}

test("the first look is not news", () => {
  expect(what(new Watcher(), session("a", "idle"), session("b", "waiting"))).toEqual([]);
});

test("a run that ends and one that asks are told once", () => {
  const watcher = new Watcher();
  what(watcher, session("a", "running"), session("b", "running"));
  expect(what(watcher, session("a", "idle"), session("b", "running", 1))).toEqual([
    "a ended",
    "b asks",
  ]);
  expect(what(watcher, session("a", "idle"), session("b", "running", 1))).toEqual([]);
});

test("a run that starts, or goes on after an answer, is not told", () => {
  const watcher = new Watcher();
  what(watcher, session("a", "idle"), session("b", "waiting"));
  expect(what(watcher, session("a", "running"), session("b", "running"))).toEqual([]);
});

const RUNNING: Moment = {
  session: "s",
  run: "r",
  ending: null,
  asks: 0,
  questions: 0,
  waits: null,
};

test.each([
  ["completed", "Answer finished"],
  ["cancelled", "Answer stopped"],
  ["failed", "The answer failed"],
  ["interrupted", "The answer was interrupted. What was written is saved."],
])("a run that ended %s is said as %s", (ending, words) => {
  expect(spoken(RUNNING, { ...RUNNING, run: null, ending })).toBe(words);
});

test("going on, or opening another session, is not said", () => {
  expect(spoken(RUNNING, RUNNING)).toBeNull();
  expect(spoken(null, RUNNING)).toBeNull();
  expect(
    spoken(RUNNING, {
      session: "t",
      run: null,
      ending: "completed",
      asks: 1,
      questions: 0,
      waits: null,
    }),
  ).toBeNull();
});

test("a question is said when it comes, not when it is answered", () => {
  expect(spoken(RUNNING, { ...RUNNING, asks: 1 })).toBe("Needs your approval");
  expect(spoken({ ...RUNNING, asks: 1 }, RUNNING)).toBeNull();
});

test("what is asked in words is said apart from what needs leave", () => {
  expect(spoken(RUNNING, { ...RUNNING, questions: 1 })).toBe("Has a question for you");
  expect(spoken({ ...RUNNING, questions: 1 }, RUNNING)).toBeNull();
});

test("the tab says how many wait, where one is, and the name", () => {
  expect(tabTitle(null, 0)).toBe("Tenuto");
  expect(tabTitle(null, 1)).toBe("(1) Tenuto");
  expect(tabTitle("Fix the parser", 2)).toBe("(2) Fix the parser · Tenuto");
});

test("that a provider is waited for is said once, whatever counts down", () => {
  const waits = { ...RUNNING, waits: "It is busy." };
  expect(spoken(RUNNING, waits)).toBe("It is busy. The provider is asked again.");
  expect(spoken(null, waits)).toBe("It is busy. The provider is asked again.");
  expect(spoken(waits, waits)).toBeNull();
  expect(spoken(waits, RUNNING)).toBeNull();
});
