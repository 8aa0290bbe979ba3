import { expect, test } from "vitest";
import { add, byDay, byModel, columnsOf, lastDays, seriesOf, type UsageRow } from "$/usage/tally";
import { usage } from "../fixtures";

function row(
  day: string,
  model: string | null,
  tokens: number,
  cost: number | null = null,
): UsageRow {
  const used = usage({ input_tokens: tokens, cost_usd: cost });
  return { ...used, day, model, kind: "run", runs: 1 };
}

test("the days run up to today without a hole, across a month's end", () => {
  expect(lastDays("2026-03-02", 4)).toEqual([
    "2026-02-27",
    "2026-02-28",
    "2026-03-01",
    "2026-03-02",
  ]);
});

test("a cost is unknown only when nothing has a price, and says when it is partial", () => {
  expect(add([row("d", "a", 1)])).toMatchObject({ cost: null, unpriced: true });
  expect(add([row("d", "a", 1, 0.5), row("d", "b", 1)])).toMatchObject({
    cost: 0.5,
    unpriced: true,
  });
  expect(add([row("d", "a", 1, 0)])).toMatchObject({ cost: 0, unpriced: false });
});

test("tokens are input and output; reasoning is part of the output already", () => {
  const one: UsageRow = { ...row("d", "a", 10), output_tokens: 5, reasoning_tokens: 4 };
  expect(add([one])).toMatchObject({ input: 10, output: 5, tokens: 15 });
});

test("models are ranked by what is asked for", () => {
  const rows = [row("d", "cheap", 100, 0.1), row("d", "dear", 10, 5)];
  expect(byModel(rows, "tokens").map((one) => one.model)).toEqual(["cheap", "dear"]);
  expect(byModel(rows, "cost").map((one) => one.model)).toEqual(["dear", "cheap"]);
});

test("a day without runs is there with nothing", () => {
  const days = byDay([row("2026-01-02", "a", 3)], ["2026-01-01", "2026-01-02"]);
  expect(days.map((one) => one.tokens)).toEqual([0, 3]);
});

test("many models: the largest have a series each, the rest share one", () => {
  const rows = Array.from({ length: 8 }, (_, i) => row("d", `m${i}`, 100 - i));
  const series = seriesOf(rows, "tokens");
  expect(series.map((one) => one.label)).toEqual(["m0", "m1", "m2", "m3", "m4", "3 other models"]);
  const [column] = columnsOf(rows, ["d"], series, "tokens");
  expect(column?.values).toEqual([100, 99, 98, 97, 96, 95 + 94 + 93]);
  expect(column?.total).toBe(772);
});

test("a model keeps its colour when the metric changes, and no two share one", () => {
  const rows = Array.from({ length: 8 }, (_, i) => row("d", `m${i}`, 100 - i, i));
  const slot = new Map(seriesOf(rows, "tokens").map((one) => [one.key, one.slot]));
  const byCost = seriesOf(rows, "cost");
  expect(byCost.map((one) => one.label)).toEqual(["m7", "m6", "m5", "m4", "m3", "2 other models"]);
  expect(byCost.find((one) => one.key === "m3")?.slot).toBe(slot.get("m3"));
  const used = byCost.map((one) => one.slot);
  expect(new Set(used).size).toBe(used.length);
});

test("a model without a price has no series in the cost chart", () => {
  expect(seriesOf([row("d", "free", 5), row("d", "paid", 5, 1)], "cost").map((s) => s.key)).toEqual(
    ["paid"],
  );
});

test("what blind comparisons used is counted without a name", () => {
  const rows = [row("d", null, 7), row("d", "a", 5)];
  const series = seriesOf(rows, "tokens");
  expect(series.map((one) => one.label)).toEqual(["Blind comparisons", "a"]);
  expect(columnsOf(rows, ["d"], series, "tokens")[0]?.values).toEqual([7, 5]);
});
