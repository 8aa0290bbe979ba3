import { describe, expect, test } from "vitest";
import { endingOf, endingOfMessage } from "$/conversation/ending";
import { details, facts, modelName } from "$/conversation/footer";
import type { Run } from "$/wire/types";

const RUN: Run = {
  id: "run_1",
  session_id: "ses_1",
  by: "owner",
  status: "completed",
  reason: "end_turn",
  error: null,
  model: "openai/gpt-x",
  mode: "agent",
  when_busy: "queue",
  on_disconnect: "continue",
  accept_number: 1,
  accepted_at: "2026-01-01T00:00:00.000Z",
  started_at: "2026-01-01T00:00:01.000Z",
  finished_at: "2026-01-01T00:00:10.200Z",
  input: "hi",
  steered_into: null,
  continues: null,
  usage: {
    input_tokens: 1000,
    output_tokens: 204,
    reasoning_tokens: 0,
    exact: true,
    cost_usd: 0.004,
  },
};

describe("why an answer ended", () => {
  test.each([
    ["completed", "end_turn", null],
    ["completed", "max_tokens", "The model stopped at its length limit."],
    ["cancelled", "user", "Stopped by you."],
    ["interrupted", "server_crashed", "The server restarted. Everything up to here is saved."],
    ["failed", "no_response", "The model gave no answer."],
    ["running", null, null],
  ] as const)("%s, %s", (status, reason, text) => {
    expect(endingOf({ ...RUN, status, reason }).text).toBe(text);
  });

  test("a provider's own words come with what to do", () => {
    const error = { code: "provider_error", message: "401: the key is wrong" };
    const ending = endingOf({ ...RUN, status: "failed", reason: "provider_error", error });
    expect(ending.hint).toBe("401: the key is wrong. Try again, or use another model.");
    expect(ending.kind).toBe("bad");
  });

  test("the same thing is not said twice", () => {
    const error = { code: "budget", message: "The run reached its cost limit." };
    const ending = endingOf({ ...RUN, status: "failed", reason: "budget", error });
    expect(ending.hint).not.toContain("reached its cost limit");
  });

  test("every ending of the contract has words of its own", () => {
    const reasons = {
      completed: ["max_tokens", "content_filter", "step_limit", "time_limit", "loop"],
      cancelled: ["user", "disconnect", "replaced", "withdrawn", "deleted"],
      failed: [
        "provider_error",
        "provider_stalled",
        "no_response",
        "budget",
        "model_not_found",
        "too_large",
        "storage",
        "internal",
      ],
      interrupted: ["server_stopped", "server_crashed"],
    } as const;
    const words = Object.entries(reasons).flatMap(([status, list]) =>
      list.map((reason) => endingOf({ ...RUN, status: status as Run["status"], reason }).text),
    );
    expect(words).not.toContain(null);
    expect(new Set(words).size).toBe(words.length);
  });

  test("an answer without its run still says that it was cut", () => {
    expect(endingOfMessage("cancelled").text).toBe("Stopped.");
    expect(endingOfMessage("end_turn").text).toBe(null);
  });
});

describe("the line under an answer", () => {
  test("has model, tokens, cost and time", () => {
    expect(facts(RUN)).toEqual(["gpt-x", "1,204 tokens", "$0.004", "9.2 s"]);
  });

  test("leaves out what is not known", () => {
    const usage = { ...RUN.usage, input_tokens: 0, output_tokens: 0, cost_usd: null };
    expect(facts({ ...RUN, model: null, usage, finished_at: null })).toEqual([]);
  });

  test("says when tokens were only counted", () => {
    const usage = { ...RUN.usage, exact: false };
    expect(facts({ ...RUN, usage })[1]).toBe("about 1,204 tokens");
    expect(details({ ...RUN, usage })).toContain("the provider did not say");
  });

  test("a model's name may have slashes in it", () => {
    expect(modelName("router/meta/llama")).toBe("meta/llama");
  });
});
