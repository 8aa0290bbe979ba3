import { expect, test } from "vitest";
import { filesOf, promptOf, textOf, toInput, withText } from "$/wire/input";
import { answer, run } from "../fixtures";

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
  const queued = run({
    input: [
      { type: "file", ...FILE },
      { type: "text", text: "see" },
    ],
  });
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
