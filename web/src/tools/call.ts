/** A call of any tool: what it was given, how it stands, how it went. */

import type { ToolPart, ToolState } from "$/wire/types";
import type { Asked, Line } from "./tool";
import { visible } from "./visible";

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

/** `server__tool` → "tool", and whose it is. */
export function toolName(name: string): { name: string; server: string | null } {
  const cut = name.indexOf("__");
  return cut > 0
    ? { name: name.slice(cut + 2), server: name.slice(0, cut) }
    : { name, server: null };
}

/** The path that a call names, written in one way only. */
export function pathOf(part: ToolPart): string {
  return argument(part, "path").replace(/^(\.\/)+/, "");
}

/** " in src": where a call looks, if it does not look everywhere. */
export function within(part: ToolPart): string {
  const place = argument(part, "path");
  return place === "" || place === "." ? "" : ` in ${place}`;
}

/** A text argument of a call that asks; what cannot be seen in it is shown. */
export function asked({ input }: Asked, field: string): string {
  const value = input?.[field];
  return typeof value === "string" ? visible(value) : "";
}

export function lineFrom(value: string, place = ""): Line {
  return { text: oneLine(value) + place, kind: "code" };
}

export function firstText(input: ToolPart["input"]): string {
  const value = Object.values(input ?? {}).find((one) => typeof one === "string");
  return typeof value === "string" ? value : "";
}

export function oneLine(text: string): string {
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
