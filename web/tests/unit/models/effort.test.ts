import { expect, test } from "vitest";
import { effortFor, inOrder } from "$/models/effort";
import { model } from "../fixtures";

test("an effort that the model does not have is not asked of it", () => {
  const thinker = model("a/thinker", { efforts: ["low", "high"] });
  expect(effortFor(thinker, "high")).toBe("high");
  expect(effortFor(thinker, "max")).toBe(null);
  expect(effortFor(model("a/talker"), "high")).toBe(null);
  expect(effortFor(undefined, "high")).toBe(null);
  expect(effortFor(thinker, null)).toBe(null);
});

test("efforts go from the least to the most", () => {
  expect(inOrder(["max", "low", "none"])).toEqual(["none", "low", "max"]);
});
