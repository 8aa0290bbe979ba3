import { expect, test } from "vitest";
import { press, refused, typed, WRITING, type Sending, type Wish } from "$/composer/submission";

const WISH: Wish = {
  text: "hello",
  files: [],
  model: null,
  mode: "agent",
  effort: null,
  when_busy: "queue",
  edits: null,
};

function keys(): () => string {
  let n = 0;
  return () => `key-${++n}`;
}

function sent(state: Sending | null): string {
  return state?.phase === "sending" ? state.submission.key : "nothing";
}

test("a second press while the answer is awaited does nothing", () => {
  const key = keys();
  const sending = press(WRITING, WISH, key, 0);
  expect(sent(sending)).toBe("key-1");
  expect(sending && press(sending, WISH, key, 1)).toBe(null);
});

test("an empty prompt is not sent", () => {
  expect(press(WRITING, { ...WISH, text: "  \n" }, keys(), 0)).toBe(null);
});

test("a file without words is a prompt", () => {
  const file = { file_id: "fil_1", name: "a.png", media_type: "image/png", size: 1 };
  expect(sent(press(WRITING, { ...WISH, text: "", files: [file] }, keys(), 0))).toBe("key-1");
});

test("the same prompt again after a failure has the same key", () => {
  const key = keys();
  const failed = refused(press(WRITING, WISH, key, 0) ?? WRITING, "The server cannot be reached.");
  expect(failed).toMatchObject({ phase: "writing", error: "The server cannot be reached." });
  expect(sent(press(failed, WISH, key, 1))).toBe("key-1");
});

test.each([
  { text: "hello there" },
  { model: "openai/other" },
  { when_busy: "steer" as const },
  { effort: "high" as const },
  { edits: "msg_1" },
  { files: [{ file_id: "fil_1", name: "a", media_type: "", size: 0 }] },
])("another prompt after a failure has a key of its own: %o", (change) => {
  const key = keys();
  const failed = refused(press(WRITING, WISH, key, 0) ?? WRITING, "no");
  expect(sent(press(failed, { ...WISH, ...change }, key, 1))).toBe("key-2");
});

test("the same words after they were accepted are a new prompt", () => {
  const key = keys();
  press(WRITING, WISH, key, 0);
  expect(sent(press(WRITING, WISH, key, 1))).toBe("key-2");
});

test("typing takes the error line away and keeps the key", () => {
  const key = keys();
  const failed = refused(press(WRITING, WISH, key, 0) ?? WRITING, "no");
  const after = typed(failed, "hello ");
  expect(after).toMatchObject({ error: null });
  expect(sent(press(after, WISH, key, 1))).toBe("key-1");
});

test("the same words in a field that was emptied meanwhile are a new prompt", () => {
  const key = keys();
  const failed = refused(press(WRITING, WISH, key, 0) ?? WRITING, "no");
  expect(sent(press(typed(failed, ""), WISH, key, 1))).toBe("key-2");
});
