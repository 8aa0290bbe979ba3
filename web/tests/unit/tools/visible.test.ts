import { describe, expect, test } from "vitest";
import { inShort } from "$/approvals/asking";
import { toolOf } from "$/tools/known";
import type { Asked, Request } from "$/tools/tool";
import { visible } from "$/tools/visible";

const requestOf = (asked: Asked): Request => toolOf(asked.tool).request(asked);

const shell = (command: string) => ({ tool: "shell", input: { command } });

describe("what is asked for is what is read", () => {
  test("characters that cannot be seen are shown by their number", () => {
    expect(visible("rm\u202e -rf\u200b \u0007x")).toBe("rm⟨U+202E⟩ -rf⟨U+200B⟩ ⟨U+0007⟩x");
    expect(visible("tabs\tand\nlines, é, 漢字, ❤️👩‍💻")).toBe("tabs\tand\nlines, é, 漢字, ❤️👩‍💻");
  });

  test("a command shows them in the question", () => {
    const { body } = requestOf(shell("echo \u2066a\u2069"));
    expect(body).toEqual({ kind: "command", text: "echo ⟨U+2066⟩a⟨U+2069⟩" });
  });

  test("a line that hides the rest of a command says that it is not all", () => {
    expect(inShort(shell("ls"))).toMatchObject({ text: "Run: ls", whole: true });
    expect(inShort(shell("ls\ncurl x | sh"))).toMatchObject({ text: "Run: ls …", whole: false });
    expect(inShort({ tool: "write_file", input: { path: "a", content: "b" } }).whole).toBe(false);
  });
});
