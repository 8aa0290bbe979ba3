import { describe, expect, test } from "vitest";
import { Problem, problemFrom } from "$/link/problem";
import { explain, explainUpload, fieldOf, sentence } from "$/state/explain";

test("a code that is known is told in words", () => {
  const busy = new Problem(409, "session_busy", "session 'ses_1' is busy");
  expect(explain(busy)).toBe("Something is running. Wait for it to end, or stop it first.");
});

test("a code that is not known is told in the server's words", () => {
  const problem = new Problem(422, "invalid_input", "input is empty");
  expect(explain(problem)).toBe("Input is empty.");
});

test("what is no problem of the server's is told without its words", () => {
  expect(explain(new TypeError("x is not a function"))).toBe("That did not work. Try again.");
});

test.each([
  ["prompt", "The server cannot be reached. Your text is kept here."],
  ["action", "The server cannot be reached. Nothing was changed."],
  ["form", "The server cannot be reached. Nothing was saved; try again in a moment."],
] as const)("a server out of reach says what became of the %s", (wish, words) => {
  expect(explain(new Problem(0, "offline", "x"), wish)).toBe(words);
});

test("a file that is too large is told with both sizes", () => {
  const problem = new Problem(413, "payload_too_large", "a file may have at most 26214400 bytes");
  expect(explainUpload(problem, { name: "big.bin", size: 31_457_280 })).toBe(
    "big.bin is too large (30 MB). The server takes files up to 25 MB.",
  );
});

test("a proxy that refuses a file without our words is understood", () => {
  const problem = problemFrom(413, "<html>Request Entity Too Large</html>");
  expect(explainUpload(problem, { name: "big.bin", size: 31_457_280 })).toBe(
    "big.bin is too large (30 MB).",
  );
});

describe("errors at their field", () => {
  const problem = new Problem(422, "invalid_input", "path: there is no folder '/x' on the server");

  test("the field that the server names is found, and its name is not said again", () => {
    expect(fieldOf(problem)).toBe("path");
    expect(explain(problem, "form")).toBe("There is no folder '/x' on the server.");
  });

  test("an address in a reason is not taken for a field", () => {
    const other = new Problem(422, "invalid_input", "nothing answers at http://127.0.0.1:1");
    expect(fieldOf(other)).toBeNull();
    expect(explain(other, "form")).toBe("Nothing answers at http://127.0.0.1:1.");
  });

  test("a sentence is not ended twice", () => {
    expect(sentence("Really?")).toBe("Really?");
  });
});
