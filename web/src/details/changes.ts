import type { Diff } from "$/tools/diff";
import { toolOf } from "$/tools/known";
import type { Message, ToolPart } from "$/wire/types";

export interface FileChange {
  path: string;
  created: boolean;
  added: number;
  removed: number;
  /** False: a tool's report was cut or has no diff, so there is more than is counted. */
  exact: boolean;
  edits: { part: ToolPart; diff: Diff | null }[];
}

/** Files that tools changed, in the order of their first change. */
export function filesChanged(messages: Iterable<Message>): FileChange[] {
  const files = new Map<string, FileChange>();
  for (const message of messages) {
    for (const part of message.parts) {
      if (part.type === "tool") add(files, part);
    }
  }
  return [...files.values()];
}

function add(files: Map<string, FileChange>, part: ToolPart): void {
  const { change, changes } = toolOf(part.name);
  const made = changes === "file" && part.state === "done" ? change(part) : null;
  if (made === null || made.path === "") return;
  const { path, diff, whole } = made;
  const created = diff?.created ?? false;
  const file = files.get(path) ?? { path, created, added: 0, removed: 0, exact: true, edits: [] };
  file.added += diff?.added ?? 0;
  file.removed += diff?.removed ?? 0;
  file.exact &&= whole;
  file.edits.push({ part, diff });
  files.set(path, file);
}

/** Whether a tool ran that may have changed anything, and says nothing about it. */
export function ranFreely(messages: Iterable<Message>): boolean {
  for (const { parts } of messages) {
    if (parts.some((part) => part.type === "tool" && toolOf(part.name).changes === "anything"))
      return true;
  }
  return false;
}
