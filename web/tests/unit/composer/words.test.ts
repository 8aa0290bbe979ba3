import { expect, test } from "vitest";
import { contextUse } from "$/composer/context";
import { filesOf, promptOf, textOf, toInput, withText } from "$/composer/input";
import { latestPlan } from "$/composer/plan";
import { explain, explainUpload } from "$/composer/problem";
import { answer, model, run, tool } from "./fixtures";

const FILE = { file_id: "fil_1", name: "a.png", media_type: "image/png", size: 3 };

test("a prompt without files is its text; with files they come first", () => {
  expect(toInput("hello", [])).toBe("hello");
  expect(toInput("see", [FILE])).toEqual([
    { type: "file", file_id: "fil_1" },
    { type: "text", text: "see" },
  ]);
  expect(toInput(" ", [FILE])).toEqual([{ type: "file", file_id: "fil_1" }]);
});

test("a queued prompt that is edited keeps its files", () => {
  const queued = run({ input: toInput("see", [FILE]) });
  expect(withText(queued, "look")).toEqual(toInput("look", [FILE]));
  expect(textOf(queued.input)).toBe("see");
  expect(filesOf(queued.input)[0]?.file_id).toBe("fil_1");
});

test("a message can be taken apart and sent again", () => {
  const parts = [
    { id: "1", type: "file" as const, ...FILE },
    { id: "2", type: "text" as const, text: "see" },
  ];
  expect(promptOf(answer(parts, { role: "user" }))).toEqual({ text: "see", files: [FILE] });
});

test("problems are told in words", () => {
  expect(explain({ status: 0, code: "offline", detail: "x" })).toMatch(/cannot be reached/);
  expect(explain({ status: 422, code: "invalid_input", detail: "input is empty" })).toBe(
    "Input is empty.",
  );
  expect(explain(new Error(""))).toBe("That did not work. Try again.");
});

test("a file that is too large is told with both sizes", () => {
  const detail = "a file may have at most 26214400 bytes";
  const said = explainUpload(
    { status: 413, code: "payload_too_large", detail },
    { name: "big.bin", size: 31_457_280 },
  );
  expect(said).toBe("big.bin is too large (30 MB). The server takes files up to 25 MB.");
});

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
  const compactions = [{ through_message_id: "msg_0", summary: "1234" }];
  const said = { messages, runs: new Map(), compactions, more: true };
  expect(contextUse(said, undefined)).toEqual({ tokens: 3, window: null, how: "about" });
});
