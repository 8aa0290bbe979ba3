import { expect, test } from "vitest";
import { latestPlan } from "$/details/plan";
import { answer, tool } from "../fixtures";

test("the plan is that of the latest finished call", () => {
  const first = tool("todo", { items: [{ text: "old", status: "pending" }] });
  const second = tool("todo", {
    items: [{ text: "a", status: "done" }, { text: "b", status: "odd" }, { status: "done" }],
  });
  const third = tool("todo", { items: [] }, { state: "input_streaming" });
  expect(latestPlan([answer([first]), answer([second, third])])).toEqual([
    { text: "a", status: "done" },
    { text: "b", status: "pending" },
  ]);
});
