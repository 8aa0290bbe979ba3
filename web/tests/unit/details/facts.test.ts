import { expect, test } from "vitest";
import { statusOf, usageFacts } from "$/details/facts";
import { run, usage } from "../fixtures";

test("what was used is told with what of it came from the cache, and what it cost", () => {
  const used = usage({
    input_tokens: 12_000,
    output_tokens: 300,
    cache_read_tokens: 10_000,
    cache_write_tokens: 1500,
    reasoning_tokens: 120,
    cost_usd: 0.0042,
  });
  expect(usageFacts(used)).toEqual([
    ["Tokens read", "12,000"],
    ["Of these, from cache", "10,000"],
    ["Of these, into cache", "1,500"],
    ["Tokens written", "300"],
    ["Of these, reasoning", "120"],
    ["Cost", "$0.0042"],
  ]);
});

test("what is not known is left out, and what was only counted says so", () => {
  expect(usageFacts(usage()).filter(([, value]) => value !== null)).toEqual([]);
  const counted = usage({ input_tokens: 1200, exact: false, cost_usd: 0.5 });
  expect(usageFacts(counted).filter(([, value]) => value !== null)).toEqual([
    ["Tokens read", "about 1,200"],
    ["Tokens written", "about 0"],
    ["Cost", "about $0.50"],
  ]);
});

test("a run that waits says for whom", () => {
  const waiting = { reason: "It is busy.", attempt: 2, until: "2026-11-15T10:00:00.000Z" };
  const running = run({ status: "running", finished_at: null });
  expect(statusOf(running, false)).toBe("Running");
  expect(statusOf({ ...running, waiting }, false)).toBe("Waits for the provider");
  expect(statusOf(running, true)).toBe("Waits for you");
});
