import { expect, test } from "vitest";
import { summariesOf } from "$/conversation/summaries";
import { answer } from "../fixtures";

const MESSAGE = answer([
  { id: "prt_1", type: "text", text: "First." },
  { id: "prt_2", type: "text", text: "Second." },
]);

function upTo(message: string, part: string | null, summary: string) {
  return { through_message_id: message, through_part_id: part, summary };
}

test("a summary that ends inside a message stands after that part", () => {
  const { inside, after } = summariesOf(MESSAGE, [
    upTo("msg_1", "prt_1", "one"),
    upTo("msg_1", "prt_2", "two"),
  ]);
  expect([...inside]).toEqual([
    ["prt_1", "one"],
    ["prt_2", "two"],
  ]);
  expect(after).toBe(null);
});

test("a summary of whole messages stands after the last of them, and nowhere else", () => {
  const compactions = [upTo("msg_0", null, "older"), upTo("msg_1", null, "all")];
  expect(summariesOf(MESSAGE, compactions)).toEqual({ inside: new Map(), after: "all" });
  expect(summariesOf({ ...MESSAGE, id: "msg_2" }, compactions).after).toBe(null);
});
