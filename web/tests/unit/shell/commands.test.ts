import { expect, test } from "vitest";
import { rank, type Command } from "$/shell/commands";

function command(group: string, label: string, more: Partial<Command> = {}): Command {
  return { id: label, group, label, run: () => undefined, ...more };
}

function labels(commands: Command[], query: string): string[] {
  return rank(commands, query).flatMap(({ items }) => items.map(({ label }) => label));
}

const SOME = [
  command("Sessions", "Fix the theme switch"),
  command("Actions", "New session"),
  command("Actions", "Theme: dark", { words: "appearance night" }),
];

test("nothing typed: all in the order given", () => {
  expect(labels(SOME, "")).toEqual(["Fix the theme switch", "New session", "Theme: dark"]);
});

test("the group with the best fit comes first", () => {
  expect(labels(SOME, "theme")).toEqual(["Theme: dark", "Fix the theme switch"]);
});

test("another word finds it too, behind what has the word in its name", () => {
  expect(labels(SOME, "appearance")).toEqual(["Theme: dark"]);
  expect(labels([...SOME, command("Settings", "Appearance")], "appearance")[0]).toBe("Appearance");
});

test("what the server found stays although its name does not fit", () => {
  const text = command("In the text", "Holiday plans", { sure: true });
  expect(labels([text, ...SOME], "theme").at(-1)).toBe("Holiday plans");
});

test("a group is short until something is typed", () => {
  const many = Array.from({ length: 30 }, (_, n) => command("Models", `model ${n}`));
  expect(labels(many, "")).toHaveLength(5);
  expect(labels(many, "model")).toHaveLength(8);
});
