import { expect, test } from "vitest";
import { aboutModel, effortRange, grouped, matching, nameOf, prices } from "$/models/catalogue";
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

const FREE = { input: 0, output: 0, cache_read: null, cache_write: null };
const PAID = { input: 2.5, output: 10, cache_read: 0.25, cache_write: null };

test("facts are said only where they are known", () => {
  expect(aboutModel(model("a/b"))).toBe("");
  const known = { context_window: 128_000, capabilities: ["tools", "vision"], price: PAID };
  expect(aboutModel(model("a/b", known))).toBe(
    "128k context · tools, sees · $2.50 in, $10 out per million",
  );
  expect(aboutModel(model("a/b", { price: FREE }))).toBe("free");
});

test("a price tells what cached input costs, where that is known", () => {
  expect(prices(model("a/b", { price: PAID }))).toBe("$2.50 in · $10 out · $0.25 cached");
  expect(prices(model("a/b", { price: FREE }))).toBe("free");
  expect(prices(model("a/b"))).toBe("price not known");
});

test("efforts are a range, if there is a choice", () => {
  expect(effortRange(model("a/b"))).toBe("");
  expect(effortRange(model("a/b", { efforts: ["high"] }))).toBe("high");
  expect(effortRange(model("a/b", { efforts: ["none", "low", "max"] }))).toBe("none to max");
});
