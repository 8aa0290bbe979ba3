import { describe, expect, test } from "vitest";
import { outputOf, stateOf, took, wentWrong } from "$/jobs/job";
import type { Job } from "$/wire/types";

const running: Job = {
  id: "job_1",
  session_id: "ses_1",
  run_id: "run_1",
  call_id: "call_1",
  name: "server",
  command: "npm start",
  cwd: ".",
  node: "node_1",
  state: "running",
  stopping: false,
  exit_code: null,
  printed: { tail: "", characters: 0 },
  started_at: "2030-01-01T00:00:00.000Z",
  ended_at: null,
  told: null,
};
const ended = (exit_code: number | null): Job => ({
  ...running,
  state: "ended",
  exit_code,
  ended_at: "2030-01-01T00:00:05.000Z",
});

describe("a job in words", () => {
  test.each([
    [running, "Running", false],
    [{ ...running, stopping: true }, "Stopping", false],
    [ended(0), "Done", false],
    [ended(2), "Exit code 2", true],
    [ended(-9), "Ended by signal 9", true],
    [{ ...ended(null), state: "stopped" as const }, "Stopped", false],
    [{ ...ended(null), state: "interrupted" as const }, "Ended with the server", true],
  ])("%#", (job, words, wrong) => {
    expect([stateOf(job), wentWrong(job)]).toEqual([words, wrong]);
  });

  test("how long it took is known once it has ended", () => {
    expect(took(running)).toBe("");
    expect(took(ended(0))).toBe("5.0 s");
    expect(outputOf(running)).toBe("/api/jobs/job_1/output");
  });
});
