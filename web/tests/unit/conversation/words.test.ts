import { describe, expect, test } from "vitest";
import { endingOf, endingOfMessage } from "$/conversation/ending";
import { details, facts, modelName } from "$/conversation/footer";
import type { Run } from "$/wire/types";
import { run, usage } from "../fixtures";

const RUN: Run = run({
  model: "openai/gpt-x",
  accepted_at: "2026-01-01T00:00:00.000Z",
  started_at: "2026-01-01T00:00:01.000Z",
  finished_at: "2026-01-01T00:00:10.200Z",
  usage: usage({ input_tokens: 1000, output_tokens: 204, cost_usd: 0.004 }),
});

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

  test("a provider's error is said as the server says it; without one there is advice", () => {
    const error = {
      code: "provider_error",
      message: "openai is overloaded (503); try again later",
    };
    const failed = { ...RUN, status: "failed", reason: "provider_error" } as const;
    const ending = endingOf({ ...failed, error });
    expect(ending.hint).toBe("openai is overloaded (503); try again later.");
    expect(ending.kind).toBe("bad");
    expect(ending.way).toBe(null);
    expect(endingOf(failed).hint).toBe("Try again, or use another model.");
  });

  test.each([
    ["provider_error", "openai refused the key (401): check that it is set", "providers"],
    ["provider_error", "openai refused the key (403): no access", "providers"],
    ["provider_error", "own has nothing at this address (404): check the base URL", "providers"],
    ["provider_error", "own could not be found: its host name is not known", "providers"],
    [
      "provider_error",
      "openai was told more than this model can take (400); make the conversation shorter, or use a model with a larger window: context_length_exceeded",
      "compact",
    ],
    [
      "provider_error",
      "openai has no credit left for this key (402); look at its billing page",
      "model",
    ],
    ["provider_error", "own says that this model cannot use tools (400); use another one", "model"],
    ["provider_error", "own takes no such files with this model (400); use another one", "model"],
    ["provider_error", "openai had too many requests (429); wait a little", null],
    ["model_not_found", "there is no model 'a/b'; did you mean 'a/c'?", "model"],
    ["model_not_found", "no provider offers a model now: configure one", "providers"],
    ["budget", "The price of this model is not known, so the cost limit cannot be kept", "model"],
    ["budget", "The run reached its cost limit.", null],
  ] as const)("%s, %s: the way out is %s", (reason, message, way) => {
    const error = { code: reason, message };
    expect(endingOf({ ...RUN, status: "failed", reason, error }).way).toBe(way);
  });

  test("a cost limit that cannot be kept is not said to be reached", () => {
    const error = { code: "budget", message: "The price of this model is not known." };
    const ending = endingOf({ ...RUN, status: "failed", reason: "budget", error });
    expect([ending.text, ending.hint]).toEqual(["The price of this model is not known.", null]);
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

  test("says what came from the provider's cache, and what went into it", () => {
    const cached = usage({ ...RUN.usage, cache_read_tokens: 800, cache_write_tokens: 150 });
    expect(facts({ ...RUN, usage: cached })[1]).toBe("1,204 tokens, 800 from cache");
    expect(details({ ...RUN, usage: cached })).toBe(
      "openai/gpt-x\n1,000 tokens in, 204 out\nOf those in, 800 from cache\nOf those in, 150 into cache",
    );
  });

  test("says the effort, if one was chosen", () => {
    expect(facts({ ...RUN, effort: "high" })[1]).toBe("high effort");
    expect(facts({ ...RUN, effort: "none" })[1]).toBe("no thinking");
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
