import { describe, expect, test } from "vitest";
import { isPiece, paceOf } from "$/compare/pace";
import { aboutComparison, paceWords, paneName, paneState, verdict } from "$/compare/words";
import type { Comparison } from "$/wire/comparisons";
import type { Event, Model, Run } from "$/wire/types";
import { model, run as someRun, usage } from "../fixtures";

const MODELS: Model[] = [model("a/one", { name: "One", context_window: 1 })];

function run(changes: Partial<Run>): Run {
  return someRun({
    model: null,
    mode: "chat",
    on_disconnect: "cancel",
    accepted_at: "2026-01-01T00:00:00.000Z",
    started_at: "2026-01-01T00:00:01.000Z",
    finished_at: "2026-01-01T00:00:06.500Z",
    usage: usage({ input_tokens: 5, output_tokens: 100 }),
    ...changes,
  });
}

function comparison(changes: Partial<Comparison>): Comparison {
  const pane = { label: "", session_id: "s", model: null, state: "open" as const };
  return {
    id: "cmp_1",
    workspace_id: "default",
    by: "owner",
    title: "hi",
    mode: "chat",
    blind: true,
    voted: false,
    winner: null,
    voted_at: null,
    created_at: "2026-01-01T00:00:00.000Z",
    panes: [
      { ...pane, index: 0, label: "A" },
      { ...pane, index: 1, label: "B" },
    ],
    ...changes,
  };
}

describe("the pace of an answer", () => {
  test("the first token counts from the start of the run, not from its place in a queue", () => {
    expect(paceOf(run({}), "2026-01-01T00:00:01.500Z")).toEqual({ first: 0.5, speed: 20 });
  });

  test("before anything has come there is nothing to say", () => {
    expect(paceOf(run({ finished_at: null }), null)).toEqual({ first: null, speed: null });
    expect(paceWords({ first: null, speed: null }, run({}))).toEqual([]);
  });

  test("a rate is told only after the end", () => {
    const still = run({ finished_at: null });
    expect(paceOf(still, "2026-01-01T00:00:01.500Z")).toEqual({ first: 0.5, speed: null });
  });

  test("an answer that came in one piece has no rate", () => {
    expect(paceOf(run({}), "2026-01-01T00:00:06.490Z").speed).toBeNull();
  });

  test("only what a reader can see is a piece", () => {
    const common = { seq: 1, session_id: "s", run_id: "r", at: "" };
    const started = (type: "text" | "tool"): Event =>
      ({ ...common, type: "part.started", message_id: "m", part: { id: "p", type } }) as Event;
    expect(isPiece(started("text"))).toBe(false);
    expect(isPiece(started("tool"))).toBe(true);
    const delta = { ...common, message_id: "m", part_id: "p", offset: 0, text: "a" };
    expect(isPiece({ ...delta, type: "part.delta" })).toBe(true);
  });

  test("a hidden cost is not mentioned, a known one is", () => {
    const pace = { first: 0.25, speed: 31.6 };
    expect(paceWords(pace, run({}))).toEqual(["250 ms to first token", "32 tokens/s"]);
    const paid = run({ usage: { ...run({}).usage, cost_usd: 0.5 } });
    expect(paceWords(pace, paid)).toEqual(["250 ms to first token", "32 tokens/s", "$0.50"]);
  });
});

describe("words", () => {
  test("a blind pane is called by its letter only", () => {
    const [pane] = comparison({}).panes;
    expect(pane && paneName(pane, MODELS)).toBe("Model A");
    expect(aboutComparison(comparison({}), MODELS)).toBe("Blind, 2 models, no vote yet");
  });

  test("after the vote the names are told", () => {
    const [first, second] = comparison({}).panes;
    if (!first || !second) throw new Error("two panes");
    const panes = [
      { ...first, model: "a/one" },
      { ...second, model: "b/gone" },
    ];
    const voted = comparison({ panes, voted: true, winner: 1 });
    expect(aboutComparison(voted, MODELS)).toBe("gone won against One");
    expect(verdict(0, panes, MODELS)).toBe("You chose A: One.");
    expect(verdict("tie", panes, MODELS)).toBe("You called it a tie.");
    expect(verdict("none", panes, MODELS)).toBe("You found none of them good.");
  });

  test.each([
    [{ busy: false, waiting: true, last: null }, "waiting"],
    [{ busy: true, waiting: false, last: null }, "answering"],
    [{ busy: false, waiting: false, last: null }, "empty"],
    [{ busy: false, waiting: false, last: run({}) }, "answered"],
    [{ busy: false, waiting: false, last: run({ status: "failed" }) }, "failed"],
    [{ busy: false, waiting: false, last: run({ status: "cancelled" }) }, "stopped"],
  ])("a pane's state is one word", (pane, word) => {
    expect(paneState(pane)).toBe(word);
  });
});
