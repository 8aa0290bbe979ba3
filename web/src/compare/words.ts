/** Comparisons in words. Nothing here knows more of a blind pane than the server tells. */

import { nameOf } from "$/models/catalogue";
import { duration, money } from "$/ui/format";
import type { Model, Run } from "$/wire/types";
import type { Pace } from "./pace";
import type { Comparison, ShownPane, Winner } from "$/wire/comparisons";

/** "Blind, 3 models, not voted" or "alpha won against beta, gamma". */
export function aboutComparison(one: Comparison, models: readonly Model[]): string {
  const names = one.panes.map((pane) => paneName(pane, models));
  if (one.blind && !one.voted) return `Blind, ${one.panes.length} models, no vote yet`;
  const winner = typeof one.winner === "number" ? names[one.winner] : undefined;
  if (winner !== undefined) {
    return `${winner} won against ${names.filter((_, at) => at !== one.winner).join(", ")}`;
  }
  const said = one.winner === "tie" ? "Tie of " : one.winner === "none" ? "None good: " : "";
  return said + names.join(", ");
}

/** The model once it may be known, else the pane's letter. */
export function paneName(pane: ShownPane, models: readonly Model[]): string {
  return pane.model === null ? `Model ${pane.label}` : nameOf(models, pane.model);
}

export function verdict(
  winner: Winner,
  panes: readonly ShownPane[],
  models: readonly Model[],
): string {
  if (winner === "tie") return "You called it a tie.";
  if (winner === "none") return "You found none of them good.";
  const pane = panes.find((one) => one.index === winner);
  return pane ? `You chose ${pane.label}: ${paneName(pane, models)}.` : "You have voted.";
}

/** "0.4 s to the first word · 32 tokens/s · $0.004", as far as it is known and may be. */
export function paceWords(pace: Pace, run: Run | null): string[] {
  const facts: string[] = [];
  if (pace.first !== null) facts.push(`${quick(pace.first)} to first token`);
  if (pace.speed !== null) facts.push(`${Math.round(pace.speed)} tokens/s`);
  const cost = run?.usage.cost_usd;
  if (cost != null && run?.finished_at != null) facts.push(money(cost));
  return facts;
}

function quick(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : duration(seconds);
}

export type PaneState = "empty" | "waiting" | "answering" | "answered" | "stopped" | "failed";

/** One word for a pane's dot and for those who hear it. */
export function paneState(pane: { busy: boolean; waiting: boolean; last: Run | null }): PaneState {
  if (pane.waiting) return "waiting";
  if (pane.busy) return "answering";
  switch (pane.last?.status) {
    case undefined:
      return "empty";
    case "completed":
      return "answered";
    case "failed":
      return "failed";
    default:
      return "stopped";
  }
}
