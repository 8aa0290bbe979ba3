import { expect, test } from "vitest";
import { changingRuns, outcome, remark } from "$/changes/change";
import { isNothing } from "$/fold/change";
import type { FileChange } from "$/wire/types";
import { answer, tool } from "../fixtures";

const STATE = { digest: "one", size: 1, mode: 0o644, link: false, file_id: null };

function change(fields: Partial<FileChange> = {}): FileChange {
  return {
    id: "run_1:a",
    session_id: "ses_1",
    run_id: "run_1",
    call_id: "call_1",
    path: "a",
    kind: "edited",
    added: 1,
    removed: 1,
    diff: "",
    state: "revertible",
    why: "",
    tool: "write_file",
    by: "owner",
    before: STATE,
    after: { ...STATE, digest: "two" },
    folders: [],
    ...fields,
  };
}

test("what a run puts back itself is nothing, but not while it is under way", () => {
  expect(isNothing(change())).toBe(false);
  expect(isNothing(change({ after: { ...STATE, file_id: "kept" } }))).toBe(true);
  expect(isNothing(change({ after: { ...STATE, mode: 0o755 } }))).toBe(false);
  expect(isNothing(change({ before: null, after: null }))).toBe(true);
  expect(isNothing(change({ before: null, after: null, next: STATE }))).toBe(false);
});

test("runs with a tool that may change something, newest first", () => {
  const of = (run_id: string, name: string) => ({ ...answer([tool(name, {})]), run_id });
  const messages = [of("one", "shell"), of("two", "read_file"), of("three", "write_file")];
  expect(changingRuns(messages)).toEqual(["three", "one"]);
});

test("what cannot be taken back says why", () => {
  expect(remark(change())).toBeNull();
  expect(remark(change({ state: "reverted" }))).toBe("Reverted");
  expect(remark(change({ state: "conflict", why: "It was changed since." }))).toBe(
    "It was changed since.",
  );
});

test("what came of it is said in a sentence, with what was left alone", () => {
  expect(outcome({ reverted: ["a", "b"], conflicts: [] }, "revert")).toBe("Reverted 2 files.");
  expect(outcome({ reverted: ["a"], conflicts: [] }, "redo")).toBe("Put back 1 file.");
  expect(outcome({ reverted: [], conflicts: [] }, "revert")).toBe("There was nothing to do.");
  const conflicts = [{ path: "b", why: "It was changed since." }];
  expect(outcome({ reverted: ["a"], conflicts }, "revert")).toBe(
    "Reverted 1 file. b was left alone: It was changed since.",
  );
});
