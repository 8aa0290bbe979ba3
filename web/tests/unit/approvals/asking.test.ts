import { expect, test } from "vitest";
import { inShort } from "$/approvals/asking";
import { toolOf } from "$/tools/known";
import type { Asked, Request } from "$/tools/tool";

const requestOf = (asked: Asked): Request => toolOf(asked.tool).request(asked);

test("a command is shown whole, and in one line where there is little room", () => {
  const approval = { tool: "shell", input: { command: "make test\nmake lint" } };
  expect(requestOf(approval).body).toEqual({ kind: "command", text: "make test\nmake lint" });
  expect(inShort(approval).text).toBe("Run: make test …");
});

test("an edit is shown as what goes and what comes", () => {
  const approval = {
    tool: "edit_file",
    input: { path: "a.py", old: "one\ntwo", new: "one\nzwei" },
  };
  const { title, body } = requestOf(approval);
  expect(title).toBe("Change a.py");
  const lines = body.kind === "diff" ? body.diff.lines.map((l) => `${l.kind} ${l.text}`) : [];
  expect(lines).toEqual(["same one", "remove two", "add zwei"]);
});

test("a change of every match says so", () => {
  const input = { path: "a.py", old: "x", new: "y", all: true };
  expect(requestOf({ tool: "edit_file", input }).title).toBe("Change every match in a.py");
});

test("a tool of another server is named with its server", () => {
  const request = requestOf({ tool: "tracker__create_issue", input: { title: "x" } });
  expect(request.title).toBe("Use create issue of tracker");
  expect(request.body).toEqual({ kind: "arguments", text: '{\n  "title": "x"\n}' });
});

test("input that is not as expected is no reason to fail", () => {
  expect(requestOf({ tool: "shell", input: {} }).body).toEqual({ kind: "command", text: "" });
});
