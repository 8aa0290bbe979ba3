import { expect, test } from "vitest";
import { aboutModel, grouped, matching, nameOf } from "$/models/catalogue";
import { model } from "../fixtures";

const MODELS = [
  model("openai/gpt-large"),
  model("openai/gpt-small"),
  model("anthropic/claude-large"),
  model("ollama/qwen:8b"),
];

function ids(query: string): string[] {
  return matching(MODELS, query).map(({ id }) => id);
}

test("no query shows all, in their order", () => {
  expect(ids("  ")).toEqual(MODELS.map(({ id }) => id));
});

test("every word must be found, in the name or the provider, in any order", () => {
  expect(ids("large openai")).toEqual(["openai/gpt-large"]);
  expect(ids("LARGE")).toEqual(["openai/gpt-large", "anthropic/claude-large"]);
  expect(ids("nothing like it")).toEqual([]);
});

test("a name that begins with the query comes before one that has it inside", () => {
  const models = [model("x/my-qwen"), model("x/aqwen"), model("x/qwen")];
  expect(matching(models, "qwen").map(({ id }) => id)).toEqual(["x/qwen", "x/my-qwen", "x/aqwen"]);
});

test("groups are by provider and keep the order of the matches", () => {
  const groups = grouped(MODELS).map(({ provider, models }) => [provider, models.length]);
  expect(groups).toEqual([
    ["openai", 2],
    ["anthropic", 1],
    ["ollama", 1],
  ]);
});

test("a model that is gone is still called by its name", () => {
  expect(nameOf(MODELS, "openai/gpt-large")).toBe("gpt-large");
  expect(nameOf(MODELS, "gone/old/model")).toBe("old/model");
});

test("facts are said only where they are known", () => {
  expect(aboutModel(model("a/b"))).toBe("");
  const known = { context_window: 128_000, price: { input: 2.5, output: 10, cached_input: null } };
  expect(aboutModel(model("a/b", known))).toBe("128k context · $2.50 in, $10 out per million");
  expect(aboutModel(model("a/b", { price: { input: 0, output: 0, cached_input: null } }))).toBe(
    "free",
  );
});
