import { expect, test } from "vitest";
import { filesChanged } from "$/details/changes";
import { answer, tool } from "../fixtures";

const EDITED = `Edited src/a.py in 1 place.
--- src/a.py
+++ src/a.py
@@ -1,3 +1,4 @@
 one
-two
+zwei
+drei
 three`;

test("counts come from the tool's own diff", () => {
  const edit = tool(
    "edit_file",
    { path: "src/a.py", old: "two", new: "zwei\ndrei" },
    { output: EDITED },
  );
  const [file] = filesChanged([answer([edit])]);
  expect(file).toMatchObject({
    path: "src/a.py",
    added: 2,
    removed: 1,
    exact: true,
    created: false,
  });
  expect(file?.edits[0]?.diff?.lines.map(({ kind }) => kind)).toEqual([
    "same",
    "remove",
    "add",
    "add",
    "same",
  ]);
});

test("a removed line that looks like a heading is counted", () => {
  const output = "Edited a.md in 1 place.\n--- a.md\n+++ a.md\n@@ -1,2 +1,1 @@\n--- old\n keep";
  const edit = tool("edit_file", { path: "a.md", old: "-- old\n", new: "" }, { output });
  expect(filesChanged([answer([edit])])[0]).toMatchObject({ added: 0, removed: 1 });
});

test("several edits of one file are one row, however its path is written", () => {
  const first = tool("edit_file", { path: "src/a.py", old: "x", new: "y" }, { output: EDITED });
  const second = tool("edit_file", { path: "./src/a.py", old: "x", new: "y" }, { output: EDITED });
  const files = filesChanged([answer([first]), answer([second])]);
  expect(files).toHaveLength(1);
  expect(files[0]).toMatchObject({ added: 4, removed: 2 });
  expect(files[0]?.edits).toHaveLength(2);
});

test("a new file counts all its lines", () => {
  const output = "Created notes.txt: 12 bytes.";
  const write = tool("write_file", { path: "notes.txt", content: "one\ntwo\nthree\n" }, { output });
  const [file] = filesChanged([answer([write])]);
  expect(file).toMatchObject({ created: true, added: 3, removed: 0, exact: true });
});

test("a report that was cut is not passed off as all", () => {
  const output =
    "Replaced a.txt: 9,000 bytes, was 8,000.\n--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n-a\n+b" +
    "\n[5,000 characters left out here: output is capped at 4,000]";
  const write = tool("write_file", { path: "a.txt", content: "…" }, { output });
  expect(filesChanged([answer([write])])[0]).toMatchObject({ added: 1, removed: 1, exact: false });
});

test.each(["denied", "failed", "cancelled", "running", "waiting_approval"] as const)(
  "a change that is %s changed nothing",
  (state) => {
    const edit = tool("edit_file", { path: "a", old: "x", new: "y" }, { state });
    expect(filesChanged([answer([edit])])).toEqual([]);
  },
);

test("a file replaced without a diff is listed, and not counted as all", () => {
  const output = "Replaced a.bin: 9 bytes, was 8.";
  const write = tool("write_file", { path: "a.bin", content: "x" }, { output });
  expect(filesChanged([answer([write])])[0]).toMatchObject({ added: 0, exact: false });
});

test("reading is no change", () => {
  expect(filesChanged([answer([tool("read_file", { path: "a" }, { output: "x" })])])).toEqual([]);
});
