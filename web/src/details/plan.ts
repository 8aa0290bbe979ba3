import { todoItems, type TodoItem } from "$/tools/tool";
import type { Message } from "$/wire/types";

/** The list of the latest `todo` call; it replaces all before it. */
export function latestPlan(messages: readonly Message[]): TodoItem[] {
  for (let n = messages.length - 1; n >= 0; n -= 1) {
    const part = messages[n]?.parts.findLast(
      (part) => part.type === "tool" && part.name === "todo" && part.state === "done",
    );
    if (part?.type === "tool") return todoItems(part);
  }
  return [];
}
