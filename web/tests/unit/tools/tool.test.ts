import { describe, expect, test } from "vitest";
import { trouble } from "$/tools/call";
import { parseDiff, type Diff } from "$/tools/diff";
import { sentenceOf, toolOf } from "$/tools/known";
import { plain, tail } from "$/tools/output";
import { numberedLines } from "$/tools/read_file";
import { foundLines } from "$/tools/search_files";
import { shellOutput } from "$/tools/shell";
import { todoItems } from "$/tools/todo";
import type { ToolPart } from "$/wire/types";

const part = (name: string, input: ToolPart["input"], more: Partial<ToolPart> = {}): ToolPart => ({
  id: "prt_1",
  type: "tool",
  call_id: "call_1",
  name,
  input,
  input_text: "",
  state: "done",
  output: null,
  error: null,
  ...more,
});

const lineOf = (call: ToolPart): string => toolOf(call.name).line(call).text;
const diffOf = (call: ToolPart): Diff | null => toolOf(call.name).change(call)?.diff ?? null;

describe("what a call is about", () => {
  test.each([
    [part("shell", { command: "ls -l\nwc" }), "ls -l …"],
    [part("read_file", { path: "src/a.py" }), "src/a.py"],
    [part("search_files", { pattern: "TODO", path: "src" }), "TODO in src"],
    [part("list_files", { path: "docs" }), "docs"],
    [part("files__fetch", { count: 3, name: "x" }), "x"],
    [
      part("todo", {
        items: [
          { text: "a", status: "done" },
          { text: "b", status: "pending" },
        ],
      }),
      "1 of 2 items done",
    ],
  ])("%#", (call, expected) => {
    expect(lineOf(call)).toBe(expected);
  });

  test.each([
    ['{"command": "pytest -q te', "pytest -q te"],
    ['{"command": "say \\"hi', 'say "hi'],
    ['{"command": "a\\', "a"],
    ['{"comm', ""],
  ])("is known while its input comes: %j", (input_text, expected) => {
    expect(lineOf(part("shell", null, { input_text }))).toBe(expected);
  });

  test("input that is not as it should be breaks nothing", () => {
    expect(lineOf(part("shell", { command: 3 }))).toBe("");
    expect(todoItems(part("todo", { items: [null, 3, { text: "a" }] }))).toEqual([
      { text: "a", status: "pending" },
    ]);
  });

  test("a call that was not done says so", () => {
    expect(trouble(part("shell", {}, { state: "denied" }))).toBe("You did not allow this.");
    expect(trouble(part("shell", {}, { state: "failed", error: "no" }))).toBe("no");
    expect(trouble(part("shell", {}))).toBe(null);
  });
});

describe("output", () => {
  test("loses its colours and its escapes", () => {
    expect(plain("\x1b[1;31mred\x1b[0m \x1b]0;title\x07ok\x1b(B")).toBe("red ok");
  });

  test("of a progress bar is what it last said", () => {
    expect(plain("10%\r50%\r100%\ndone\r\n")).toBe("100%\ndone\n");
    expect(plain("ab\bc")).toBe("ac");
  });

  test("has its end apart", () => {
    expect(shellOutput("a\nb\n[exit code 2]")).toEqual({
      text: "a\nb",
      remark: "Exit code 2",
      bad: true,
    });
    expect(
      shellOutput("a\n[the whole output: `output:c` as path of read_file or search_files]"),
    ).toEqual({ text: "a", remark: null, bad: false });
    expect(
      shellOutput(
        "x\n[1 process left in the background: ended; use start_job for what is to go on]",
      ).remark,
    ).toBe("1 process left in the background were ended");
    expect(shellOutput("(no output)")).toEqual({ text: "", remark: null, bad: false });
    expect(
      shellOutput("x\n[exit code 1]\n[2 processes left in the background: ended]").remark,
    ).toBe("Exit code 1 · 2 processes left in the background were ended");
    expect(
      shellOutput("x\n[stopped: its 5 seconds were up, and everything it had started was ended.]")
        .remark,
    ).toBe("Stopped: its time was up");
  });

  test("that only talks about an exit code is left alone", () => {
    expect(shellOutput("[exit code 2] was said\nok").text).toBe("[exit code 2] was said\nok");
  });

  test("is cut to its last lines", () => {
    expect(tail("1\n2\n3\n", 2)).toBe("2\n3");
    expect(tail("1\n2", 5)).toBe("1\n2");
    expect(tail("", 5)).toBe("");
  });

  test("of read_file has line numbers", () => {
    expect(numberedLines("     9\ta\tb\n[lines 9 to 9 shown]")).toEqual([
      { number: 9, text: "a\tb" },
      { number: null, text: "[lines 9 to 9 shown]" },
    ]);
  });

  test("of search_files is by file", () => {
    expect(foundLines("a.py:3: x: 1: y\na.py:9: z\nb.py:1: q\n[3 more lines left out]")).toEqual({
      files: [
        {
          path: "a.py",
          lines: [
            { number: 3, text: "x: 1: y" },
            { number: 9, text: "z" },
          ],
        },
        { path: "b.py", lines: [{ number: 1, text: "q" }] },
      ],
      remarks: ["[3 more lines left out]"],
    });
  });
});

describe("a change", () => {
  const report =
    "Edited a.py in 1 place.\n--- a.py\n+++ a.py\n@@ -9,4 +9,4 @@\n keep\n-old\n+new\n \n@@ -40,2 +40,3 @@\n x\n+--- y\n z";

  test("is read from the tool's report, with its line numbers", () => {
    const diff = diffOf(
      part("edit_file", { path: "a.py", old: "old", new: "new" }, { output: report }),
    );
    expect(diff).toMatchObject({ added: 2, removed: 1, cut: false });
    expect(diff?.lines.slice(0, 5)).toEqual([
      { kind: "same", old: 9, new: 9, text: "keep" },
      { kind: "remove", old: 10, new: null, text: "old" },
      { kind: "add", old: null, new: 10, text: "new" },
      { kind: "same", old: 11, new: 11, text: "" },
      { kind: "gap", old: null, new: null, text: "" },
    ]);
    expect(diff?.lines[6]).toEqual({ kind: "add", old: null, new: 41, text: "--- y" });
  });

  test("is what the tool tells apart from what the model reads", () => {
    const diff = "--- a.py\n+++ a.py\n@@ -3,1 +3,2 @@\n-a\n+b\n+c";
    const told = { output: "Edited a.py in 1 place (+2 −1 lines).", details: { diff } };
    const input = { path: "a.py", old: "a", new: "b\nc" };
    expect(diffOf(part("edit_file", input, told))).toMatchObject({ added: 2, removed: 1 });
    expect(diffOf(part("edit_file", input, told))?.lines[0]).toMatchObject({ old: 3, text: "a" });
  });

  test("is worked out from the input before there is a report", () => {
    const input = { path: "a.py", old: "a\nb", new: "a\nc\nd" };
    const diff = diffOf(part("edit_file", input, { state: "waiting_approval" }));
    expect(diff).toMatchObject({ added: 2, removed: 1, created: false });
  });

  test("of a new file is all its lines", () => {
    const diff = diffOf(
      part("write_file", { path: "a", content: "1\n2\n" }, { output: "Created a: 4 bytes." }),
    );
    expect(diff).toMatchObject({ added: 2, removed: 0, created: true });
  });

  test("of a file whose old content is not known is not made up", () => {
    const output = "Replaced a: 4 bytes, was 9.";
    expect(diffOf(part("write_file", { path: "a", content: "1" }, { output }))).toBe(null);
  });

  test("says when it is not whole", () => {
    const cut =
      "@@ -1,1 +1,1 @@\n-a\n+b\n[12,000 characters left out here: output is capped at 4,000]";
    expect(parseDiff(cut)).toMatchObject({ cut: true, added: 1, removed: 1 });
  });
});

describe("what there is to see of a call", () => {
  test.each([
    [part("shell", { command: "ls" }), "shell"],
    [part("todo", { items: [{ text: "a" }] }), "todo"],
    [part("todo", {}), "other"],
    [part("edit_file", { path: "a", old: "x", new: "y" }), "diff"],
    [part("edit_file", { path: "a" }, { state: "input_streaming" }), "other"],
    [part("write_file", { path: "a", content: "x" }), "diff"],
    [part("write_file", { path: "a", content: "x" }, { state: "input_streaming" }), "content"],
    [part("write_file", { path: "a", content: "x" }, { output: "Replaced a: 1 byte." }), "content"],
    [part("read_file", { path: "a" }, { output: "1\ta" }), "lines"],
    [part("read_file", { path: "a" }), "other"],
    [part("list_files", {}, { output: "a\nb" }), "lines"],
    [part("search_files", { pattern: "x" }, { output: "a:1: x" }), "found"],
    [part("search_files", { pattern: "x" }, { output: "Nothing matches." }), "other"],
    [part("git__log", { count: 3 }, { output: "a" }), "other"],
    [part("constructor", {}), "other"],
  ])("%#", (call, expected) => {
    expect(toolOf(call.name).body(call).kind).toBe(expected);
  });

  test("only a command that ended badly went wrong", () => {
    const wrong = (name: string, more: Partial<ToolPart>): boolean =>
      toolOf(name).wentWrong(part(name, {}, more));
    expect(wrong("shell", { output: "[exit code 2]" })).toBe(true);
    expect(wrong("shell", { output: "[exit code 2]", state: "running" })).toBe(false);
    expect(wrong("shell", { output: "fine" })).toBe(false);
    expect(wrong("read_file", { output: "[exit code 2]" })).toBe(false);
  });
});

test("a tool of an MCP server is explained by the first sentence of its own words", () => {
  expect(sentenceOf("git__log", "Shows commits. Newest first.")).toBe("Shows commits.");
  expect(sentenceOf("shell", "Run it. Be careful.")).toBe(
    "Runs a command in the workspace's folder.",
  );
});
