/** A tool call in words: what it is about, how it stands, how it went. */

import { plural } from "$/ui/format";
import type { ToolPart, ToolState } from "$/wire/types";

const MAIN: Record<string, string[]> = {
  read_file: ["path"],
  write_file: ["path"],
  edit_file: ["path"],
  list_files: ["pattern", "path"],
  search_files: ["pattern"],
  shell: ["command"],
  fetch_url: ["url"],
};

/** What the call is about, on one line; also while its input is still coming. */
export function mainArgument(part: ToolPart): string {
  if (part.name === "todo") return todoCount(part);
  const fields = MAIN[part.name] ?? [];
  for (const field of fields) {
    const value = argument(part, field);
    if (value !== "") return withPlace(part, field, oneLine(value));
  }
  return fields.length > 0 ? "" : oneLine(firstText(part.input));
}

/** A text argument; of an input that is not whole yet, what has come of it. */
export function argument(part: ToolPart, field: string): string {
  const value = part.input?.[field];
  if (typeof value === "string") return value;
  if (part.input !== null) return "";
  const found = new RegExp(`"${field}"\\s*:\\s*"((?:\\\\.|[^"\\\\])*)`).exec(part.input_text);
  return found?.[1] === undefined ? "" : unquoted(found[1]);
}

export const STATE_WORDS: Record<ToolState, string> = {
  input_streaming: "Preparing",
  waiting_approval: "Waits for you",
  running: "Running",
  done: "Done",
  failed: "Failed",
  denied: "Not allowed",
  cancelled: "Stopped",
  interrupted: "Interrupted",
};

export function isUnfinished(state: ToolState): boolean {
  return state === "input_streaming" || state === "waiting_approval" || state === "running";
}

/** One sentence for a call that did not do what was asked; null for one that did or still may. */
export function trouble(part: ToolPart): string | null {
  switch (part.state) {
    case "failed":
      return part.error ?? "The tool failed.";
    case "denied":
      return part.error ?? "You did not allow this.";
    case "cancelled":
      return "Stopped before it was done.";
    case "interrupted":
      return "The server restarted while this ran. It was not run again.";
    default:
      return null;
  }
}

export interface TodoItem {
  text: string;
  status: "pending" | "in_progress" | "done";
}

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

/** `server__tool` → "tool", and whose it is. */
export function toolName(name: string): { name: string; server: string | null } {
  const cut = name.indexOf("__");
  return cut > 0
    ? { name: name.slice(cut + 2), server: name.slice(0, cut) }
    : { name, server: null };
}

function todoCount(part: ToolPart): string {
  const items = todoItems(part);
  const done = items.filter((item) => item.status === "done").length;
  return items.length === 0 ? "" : `${done} of ${plural(items.length, "item")} done`;
}

function withPlace(part: ToolPart, field: string, value: string): string {
  const place = field === "pattern" ? argument(part, "path") : "";
  return place === "" || place === "." ? value : `${value} in ${place}`;
}

function firstText(input: ToolPart["input"]): string {
  const value = Object.values(input ?? {}).find((one) => typeof one === "string");
  return typeof value === "string" ? value : "";
}

function oneLine(text: string): string {
  const [first = "", ...rest] = text.trim().split("\n");
  return rest.length > 0 ? `${first} …` : first.slice(0, 400);
}

function unquoted(json: string): string {
  try {
    return String(JSON.parse(`"${json.replace(/\\u[0-9a-f]{0,3}$/i, "")}"`));
  } catch {
    // Cut in the middle of an escape.
    return json.replace(/\\.?$/, "");
  }
}
