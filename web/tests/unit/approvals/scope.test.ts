import { expect, test } from "vitest";
import { scopesOf, suggestionOf } from "$/approvals/scope";
import type { Approval } from "$/wire/types";

function asked(...patterns: string[]): Approval {
  const suggestions = patterns.map((pattern) => ({ pattern, about: `about ${pattern}` }));
  return { suggestions } as Approval;
}

test("what can be allowed goes from what the server suggests to all that the tool does", () => {
  expect(scopesOf(asked("git status", "git status *"), "every command")).toEqual([
    { value: "0", label: "about git status" },
    { value: "1", label: "about git status *" },
    { value: "all", label: "every command" },
  ]);
});

test("without suggestions there is only all of it, also in what was kept before there were any", () => {
  expect(scopesOf(asked(), "every command")).toHaveLength(1);
  expect(scopesOf({} as Approval, "every command")).toHaveLength(1);
});

test("an answer names a suggestion by its place, and none for all of it", () => {
  expect(suggestionOf("1")).toBe(1);
  expect(suggestionOf("all")).toBeUndefined();
});
