import { expect, test } from "vitest";
import { childOf, isAskedBy, lastDeeds, resultOf } from "$/sub-agents/sub-agent";
import type { Approval, Message, Question, ToolPart } from "$/wire/types";

function call(id: string, name: string, more: Partial<ToolPart> = {}): ToolPart {
  const input = { path: `${id}.txt` };
  return {
    id,
    type: "tool",
    call_id: "call_1",
    name,
    input,
    state: "running",
    ...more,
  } as ToolPart;
}

const task = call("p", "task", { details: { session_id: "child" } });

test("only a call of a sub-agent has a session of its own", () => {
  expect(childOf(task)).toBe("child");
  expect(childOf(call("p", "task"))).toBeNull();
  expect(childOf(call("p", "shell", { details: { session_id: "child" } }))).toBeNull();
});

test("what a sub-agent asks stands at its call, whatever its own calls are named", () => {
  const below = { session_id: "child", call_id: "call_1", part_id: "q" } as Question;
  expect(isAskedBy(below, task, "root")).toBe(true);
  expect(isAskedBy(below, call("p", "shell"), "root")).toBe(false);
  expect(isAskedBy({ ...below, session_id: "other" }, task, "root")).toBe(false);
});

test("what a call asks itself stands at it alone", () => {
  const own = { session_id: "root", call_id: "call_1", part_id: "p" } as Approval;
  expect(isAskedBy(own, call("p", "shell"), "root")).toBe(true);
  expect(isAskedBy(own, call("other", "shell"), "root")).toBe(false);
  const { part_id: _, ...older } = own;
  expect(isAskedBy(older as Approval, call("other", "shell"), "root")).toBe(true);
});

test("the last that it did is what its newest answer shows", () => {
  const answer = (...parts: ToolPart[]): Message =>
    ({ role: "assistant", parts }) as unknown as Message;
  const names = ["a", "b", "c"].map((id) => call(id, "read_file"));
  const deeds = lastDeeds([answer(call("old", "shell")), answer(...names)], 2);
  expect(deeds.map(({ line }) => line.text)).toEqual(["b.txt", "c.txt"]);
  expect(lastDeeds([], 2)).toEqual([]);
});

test("the line for the model is not shown", () => {
  expect(resultOf("Three.\n\n[sub-agent: session ses_1]")).toBe("Three.");
  expect(resultOf(null)).toBe("");
});
