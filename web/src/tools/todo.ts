/** `todo` keeps the list of what is left to do; each call replaces the list before it. */

import { plural } from "$/ui/format";
import type { ToolPart } from "$/wire/types";
import { foreign } from "./foreign";
import type { TodoItem, Tool } from "./tool";

export const todo: Tool = {
  ...foreign,
  about: "Keeps a list of what is left to do. It touches no file.",
  line: (part) => ({ text: count(todoItems(part)), kind: "words" }),
  body: (part) => {
    const items = todoItems(part);
    return items.length > 0 ? { kind: "todo", items } : { kind: "other" };
  },
  plan: todoItems,
};

export function todoItems(part: ToolPart): TodoItem[] {
  const items = part.input?.["items"];
  if (!Array.isArray(items)) return [];
  return items.flatMap((item: unknown) => {
    if (typeof item !== "object" || item === null || !("text" in item)) return [];
    const status = "status" in item ? item.status : "pending";
    const known = status === "done" || status === "in_progress" ? status : "pending";
    return [{ text: String(item.text), status: known }];
  });
}

function count(items: readonly TodoItem[]): string {
  const done = items.filter((item) => item.status === "done").length;
  return items.length === 0 ? "" : `${done} of ${plural(items.length, "item")} done`;
}
