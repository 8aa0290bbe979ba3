import { expect, test } from "vitest";
import { dropped, moved, stepped } from "$/queue/places";

const ABC = ["a", "b", "c"];

test.each([
  ["a", 2, ["b", "c", "a"]],
  ["c", 0, ["c", "a", "b"]],
  ["b", 1, ["a", "b", "c"]],
  ["a", 99, ["b", "c", "a"]],
  ["gone", 0, ["a", "b", "c"]],
])("%s moved to %i", (id, position, order) => {
  expect(moved(ABC, id, position)).toEqual(order);
});

test("a step beyond the end leads nowhere", () => {
  expect(stepped(ABC, "a", -1)).toBe(null);
  expect(stepped(ABC, "c", 1)).toBe(null);
  expect(stepped(ABC, "gone", 1)).toBe(null);
  expect(stepped(ABC, "a", 1)).toBe(1);
  expect(stepped(ABC, "c", -1)).toBe(1);
});

test.each([
  ["a", "c", "lower", ["b", "c", "a"]],
  ["a", "c", "upper", ["b", "a", "c"]],
  ["c", "a", "upper", ["c", "a", "b"]],
  ["c", "a", "lower", ["a", "c", "b"]],
] as const)("%s dropped on %s, %s half", (id, over, half, order) => {
  const position = dropped(ABC, id, over, half);
  expect(position === null ? null : moved(ABC, id, position)).toEqual(order);
});

test("a row dropped where it was does not move", () => {
  expect(dropped(ABC, "a", "b", "upper")).toBe(null);
  expect(dropped(ABC, "b", "a", "lower")).toBe(null);
  expect(dropped(ABC, "b", "b", "lower")).toBe(null);
});
