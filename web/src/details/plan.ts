import { toolOf } from "$/tools/known";
import type { TodoItem } from "$/tools/tool";
import type { Message, Part } from "$/wire/types";

/** The list that is in force: a finished call replaces all before it. */
export function latestPlan(messages: readonly Message[]): TodoItem[] {
  for (const { parts } of messages.toReversed()) {
    const plan = parts.map(planOf).findLast((found) => found !== null);
    if (plan) return plan;
  }
  return [];
}

function planOf(part: Part): TodoItem[] | null {
  return part.type === "tool" && part.state === "done" ? toolOf(part.name).plan(part) : null;
}
