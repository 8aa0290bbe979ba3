import { expect, test } from "vitest";
import { lastEnded, lastEnding } from "$/conversation/last-ending";
import { run } from "../fixtures";

const some = (): boolean => true;
const none = (): boolean => false;

test("all is well: nothing is said", () => {
  expect(lastEnding([run()], false, some)).toBe(null);
  expect(lastEnding([], false, some)).toBe(null);
});

test("nothing is said while something runs", () => {
  expect(lastEnding([run({ status: "failed", reason: "provider_error" })], true, some)).toBe(null);
});

test.each([
  [{ status: "cancelled", reason: "user" }, "Stopped by you.", "quiet"],
  [
    { status: "interrupted", reason: "server_crashed" },
    "The server restarted. Everything up to here is saved.",
    "quiet",
  ],
  [{ status: "failed", reason: "provider_stalled" }, "The model stopped sending.", "bad"],
] as const)("an ending is told in words: %o", (fields, text, kind) => {
  const ending = lastEnding([run(fields)], false, some);
  expect(ending).toMatchObject({ text, kind, canContinue: true, canRetry: true });
});

test("a run's own error is told", () => {
  const error = { code: "provider_error", message: "No such key." };
  const ending = lastEnding(
    [run({ status: "failed", reason: "provider_error", error })],
    false,
    some,
  );
  expect(ending?.hint).toMatch(/^No such key\./);
});

test("nothing to go on from: only retry is offered", () => {
  const ending = lastEnding([run({ status: "cancelled", reason: "user" })], false, none);
  expect(ending).toMatchObject({ canContinue: false, canRetry: true });
});

test("an answer that was cut at a limit can be continued", () => {
  const ending = lastEnding([run({ reason: "max_tokens" })], false, some);
  expect(ending).toMatchObject({ canContinue: true, canRetry: false, kind: "quiet" });
});

test("the last to end counts, not the last to be accepted", () => {
  const long = run({ id: "long", accept_number: 1, finished_at: "2026-11-15T10:09:00.000Z" });
  const steered = run({
    id: "steered",
    accept_number: 2,
    finished_at: "2026-11-15T10:09:01.000Z",
    steered_into: "long",
  });
  const withdrawn = run({
    id: "withdrawn",
    accept_number: 3,
    status: "cancelled",
    reason: "withdrawn",
    finished_at: "2026-11-15T10:10:00.000Z",
  });
  expect(lastEnded([long, steered, withdrawn])?.id).toBe("long");
});
