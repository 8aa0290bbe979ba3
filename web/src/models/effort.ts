/** How hard a model is asked to think, in words. */

import type { Effort, Model } from "$/wire/types";

const WORDS: Record<Effort, string> = {
  none: "No thinking",
  low: "Low effort",
  medium: "Medium effort",
  high: "High effort",
  max: "Max effort",
};
const ORDER = Object.keys(WORDS) as Effort[];

export function effortWords(effort: Effort): string {
  return WORDS[effort];
}

/** From the least to the most, whatever order they came in. */
export function inOrder(efforts: readonly Effort[]): Effort[] {
  return ORDER.filter((effort) => efforts.includes(effort));
}

/** What is asked of this model; null: what was chosen means nothing to it. */
export function effortFor(model: Model | undefined, chosen: Effort | null): Effort | null {
  return chosen !== null && model?.efforts.includes(chosen) ? chosen : null;
}
