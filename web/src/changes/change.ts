/** What a run did to files, and what can be said of it. */

import { toolOf } from "$/tools/known";
import { plural } from "$/ui/format";
import type { FileChange, Message, Reverted } from "$/wire/types";

/** Runs with a tool that may have changed something, newest first. */
export function changingRuns(messages: Iterable<Message>): string[] {
  const found = new Set<string>();
  for (const { run_id, parts } of messages) {
    if (run_id === null) continue;
    const may = parts.some(
      (part) => part.type === "tool" && toolOf(part.name).changes !== "nothing",
    );
    if (may) found.add(run_id);
  }
  return [...found].reverse();
}

/** What is wrong with it, or was done to it, in a word or a sentence; null: nothing. */
export function remark(change: FileChange): string | null {
  switch (change.state) {
    case "reverted":
      return "Reverted";
    case "conflict":
      return change.why === "" ? "Changed since" : change.why;
    case "not_revertible":
      return change.why === "" ? "Cannot be reverted" : change.why;
    case "revertible":
      return null;
  }
}

/** What came of a revert, or of putting it back. */
export function outcome({ reverted, conflicts }: Reverted, way: "revert" | "redo"): string {
  const done = way === "revert" ? "Reverted" : "Put back";
  const [first] = conflicts;
  if (first === undefined)
    return reverted.length === 0
      ? "There was nothing to do."
      : `${done} ${plural(reverted.length, "file")}.`;
  const left =
    conflicts.length === 1
      ? `${first.path} was left alone: ${first.why}`
      : `${plural(conflicts.length, "file")} were left alone, as they were changed since or cannot be reverted.`;
  return reverted.length === 0 ? left : `${done} ${plural(reverted.length, "file")}. ${left}`;
}
