/** Comparisons, by the names that the page has for them. */

import type * as server from "./server";

export type {
  ComparisonDraft as NewComparison,
  Scoreboard,
  ShownComparison as Comparison,
  ShownPane,
  Standing,
} from "./server";

export type Winner = server.Ballot["winner"];
