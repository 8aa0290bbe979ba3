/** A change of a file, as its states tell of it. */

import type { FileChange } from "$/wire/types";

type FileState = NonNullable<FileChange["before"]>;

/** Whether the run left the file as it had found it. */
export function isNothing(change: FileChange): boolean {
  return change.next === undefined && markOf(change.before) === markOf(change.after);
}

function markOf(state: FileState | null): string {
  if (state === null) return "";
  return `${state.digest} ${state.link ? "link" : state.mode}`;
}
