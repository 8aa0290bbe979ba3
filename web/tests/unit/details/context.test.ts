import { expect, test } from "vitest";
import { contextUse } from "$/details/context";
import { answer, model, run, tool } from "../fixtures";

test("what one request read and wrote is exactly what the next begins with", () => {
  const usage = { ...run().usage, input_tokens: 900, output_tokens: 100 };
  const said = {
    messages: [answer([{ id: "1", type: "text", text: "x" }])],
    runs: new Map([["run_1", run({ usage })]]),
    compactions: [],
    more: false,
  };
  const window = model("a/b", { context_window: 8000 });
  expect(contextUse(said, window)).toEqual({ tokens: 1000, window: 8000, how: "exact" });
});

test("with tool calls the context is an estimate, and a lower bound when older messages are missing", () => {
  const messages = [answer([tool("shell", {}, { input_text: "1234", output: "12345678" })])];
  const said = { messages, runs: new Map([["run_1", run()]]), compactions: [], more: false };
  expect(contextUse(said, undefined)).toEqual({ tokens: 3, window: null, how: "about" });
  expect(contextUse({ ...said, more: true }, undefined).how).toBe("at least");
});

test("what was summarised counts as its summary", () => {
  const messages = [
    answer([{ id: "1", type: "text", text: "x".repeat(4000) }], { id: "msg_0" }),
    answer([{ id: "2", type: "text", text: "12345678" }], { id: "msg_2", role: "user" }),
  ];
  const compactions = [{ through_message_id: "msg_0", through_part_id: null, summary: "1234" }];
  const said = { messages, runs: new Map(), compactions, more: true };
  expect(contextUse(said, undefined)).toEqual({ tokens: 3, window: null, how: "about" });
});

test("of a message that was summed up in its middle, the rest counts", () => {
  const parts = [
    { id: "1", type: "text", text: "x".repeat(4000) } as const,
    { id: "2", type: "text", text: "12345678" } as const,
  ];
  const compactions = [{ through_message_id: "msg_1", through_part_id: "1", summary: "1234" }];
  const said = { messages: [answer(parts)], runs: new Map(), compactions, more: false };
  expect(contextUse(said, undefined)).toEqual({ tokens: 3, window: null, how: "about" });
});
