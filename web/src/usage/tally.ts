/** Adds the server's usage rows up, by day and by model. */

import type { DayUsage } from "$/wire/types";

/** Without a model: of blind comparisons before their vote. */
export type UsageRow = Omit<DayUsage, "exact">;

export type Metric = "tokens" | "cost";

export interface Totals {
  runs: number;
  input: number;
  output: number;
  tokens: number;
  /** null: no model of these has a known price. */
  cost: number | null;
  /** Some of it has no known price, so the cost is too low. */
  unpriced: boolean;
}

export interface Series {
  key: string;
  label: string;
  /** Which of the chart's colours; the rest has none of its own. */
  slot: number | "rest";
}

export interface Column {
  day: string;
  values: number[];
  total: number;
}

export interface ModelTotals extends Totals {
  model: string;
}

const SLOTS = 5;
const REST = "\u0000rest";
const DAY_MS = 24 * 60 * 60 * 1000;

/** The last `count` days up to `today`, oldest first, as the server names them (UTC). */
export function lastDays(today: string, count: number): string[] {
  const end = Date.parse(`${today}T00:00:00Z`);
  return Array.from({ length: count }, (_, i) =>
    new Date(end - (count - 1 - i) * DAY_MS).toISOString().slice(0, 10),
  );
}

export function add(rows: readonly UsageRow[]): Totals {
  const totals: Totals = { runs: 0, input: 0, output: 0, tokens: 0, cost: null, unpriced: false };
  for (const row of rows) {
    totals.runs += row.runs;
    totals.input += row.input_tokens;
    totals.output += row.output_tokens;
    totals.tokens += row.input_tokens + row.output_tokens;
    if (row.cost_usd === null) totals.unpriced = true;
    else totals.cost = (totals.cost ?? 0) + row.cost_usd;
  }
  return totals;
}

/** Every model with what it used, the most used first. */
export function byModel(rows: readonly UsageRow[], metric: Metric): ModelTotals[] {
  const found = groups(rows, modelOf);
  const all = [...found].map(([model, of]) => ({ model, ...add(of) }));
  return all.sort(
    (a, b) => amount(b, metric) - amount(a, metric) || a.model.localeCompare(b.model),
  );
}

export function byDay(
  rows: readonly UsageRow[],
  days: readonly string[],
): (Totals & { day: string })[] {
  const found = groups(rows, (row) => row.day);
  return days.map((day) => ({ day, ...add(found.get(day) ?? []) }));
}

/**
 * The series of a stacked chart, largest first, and one for all the small ones together.
 * A model keeps its colour when the metric changes.
 */
export function seriesOf(rows: readonly UsageRow[], metric: Metric): Series[] {
  const ranked = byModel(rows, metric).filter((one) => amount(one, metric) > 0);
  const shown = ranked.length <= SLOTS + 1 ? ranked : ranked.slice(0, SLOTS);
  const home = new Map(byModel(rows, "tokens").map((one, index) => [one.model, index]));
  const free = new Set(Array.from({ length: SLOTS + 1 }, (_, i) => i));
  const slots = new Map<string, number>();
  for (const { model } of shown) {
    const wanted = home.get(model);
    if (wanted !== undefined && free.delete(wanted)) slots.set(model, wanted);
  }
  const left = [...free];
  const series: Series[] = shown.map(({ model }) => ({
    key: model,
    label: model,
    slot: slots.get(model) ?? left.shift() ?? "rest",
  }));
  if (shown.length < ranked.length) {
    series.push({ key: REST, label: `${ranked.length - shown.length} other models`, slot: "rest" });
  }
  return series;
}

export function columnsOf(
  rows: readonly UsageRow[],
  days: readonly string[],
  series: readonly Series[],
  metric: Metric,
): Column[] {
  const named = new Set(series.map((one) => one.key));
  const found = groups(rows, (row) => row.day);
  return days.map((day) => {
    const of = groups(found.get(day) ?? [], (row) =>
      named.has(modelOf(row)) ? modelOf(row) : REST,
    );
    const values = series.map((one) => amount(add(of.get(one.key) ?? []), metric));
    return { day, values, total: values.reduce((sum, value) => sum + value, 0) };
  });
}

/** Models are called `provider/name`, so no model has this name. */
function modelOf(row: UsageRow): string {
  return row.model ?? "Blind comparisons";
}

function amount(totals: Totals, metric: Metric): number {
  return metric === "tokens" ? totals.tokens : (totals.cost ?? 0);
}

function groups(
  rows: readonly UsageRow[],
  keyOf: (row: UsageRow) => string,
): Map<string, UsageRow[]> {
  const found = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = found.get(key);
    if (group) group.push(row);
    else found.set(key, [row]);
  }
  return found;
}
