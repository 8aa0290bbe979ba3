import { expect, test } from "vitest";
import { moved } from "$/ui/menu";

const LABELS = ["Rename", "Pin", "Remove", "Export"];

test.each([
  ["ArrowDown", 0, 1],
  ["ArrowDown", 3, 0],
  ["ArrowUp", 0, 3],
  ["ArrowUp", 2, 1],
  ["Home", 2, 0],
  ["End", 0, 3],
])("%s from %i goes to %i", (key, from, to) => {
  expect(moved(key, from, LABELS, "")).toBe(to);
});

test("a letter goes to the next item that begins with it, and round", () => {
  expect(moved("r", 0, LABELS, "")).toBe(2);
  expect(moved("r", 2, LABELS, "")).toBe(0);
});

test("more letters narrow down without leaving an item that still fits", () => {
  expect(moved("m", 2, LABELS, "re")).toBe(2);
  expect(moved("n", 2, LABELS, "re")).toBe(0);
});

test("other keys do not move", () => {
  expect(moved("Enter", 0, LABELS, "")).toBeNull();
  expect(moved(" ", 0, LABELS, "")).toBeNull();
  expect(moved("z", 0, LABELS, "")).toBeNull();
  expect(moved("ArrowDown", 0, [], "")).toBeNull();
});
