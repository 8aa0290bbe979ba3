import { diffOf, type Diff } from "$/tools/diff";
import { argument } from "$/tools/tool";
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
      if (part.type === "tool" && isChange(part)) add(files, part);
    }
  }
  return [...files.values()];
}

function isChange(part: ToolPart): boolean {
  const writes = part.name === "write_file" || part.name === "edit_file";
  return writes && part.state === "done" && pathOf(part) !== "";
}

function add(files: Map<string, FileChange>, part: ToolPart): void {
  const path = pathOf(part);
  const diff = diffOf(part);
  const created = diff?.created ?? false;
  const file = files.get(path) ?? { path, created, added: 0, removed: 0, exact: true, edits: [] };
  file.added += diff?.added ?? 0;
  file.removed += diff?.removed ?? 0;
  file.exact &&= diff ? !diff.cut : /the same as before/.test(part.output ?? "");
  file.edits.push({ part, diff });
  files.set(path, file);
}

function pathOf(part: ToolPart): string {
  return argument(part, "path").replace(/^(\.\/)+/, "");
}
