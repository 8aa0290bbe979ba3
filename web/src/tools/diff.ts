/** What a tool changed in a file, line by line. */

import { structuredPatch } from "diff";
import type { ToolPart } from "$/wire/types";

export interface DiffLine {
  kind: "add" | "remove" | "same" | "gap";
  /** Line numbers; null where the line is not in that file, or its place is not known. */
  old: number | null;
  new: number | null;
  text: string;
}

export interface Diff {
  lines: DiffLine[];
  added: number;
  removed: number;
  /** Only a part of it was kept. */
  cut: boolean;
  created: boolean;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;
const CUT = /^\[[\d,]+ characters left out here: output is capped at [\d,]+\]$/;

/** Reads a part once: it never changes, and its row comes and goes as one scrolls. */
export function readOnce<T extends Diff | null>(
  read: (part: ToolPart) => T,
): (part: ToolPart) => T {
  const known = new WeakMap<ToolPart, { diff: T }>();
  return (part) => {
    const found = known.get(part) ?? { diff: read(part) };
    known.set(part, found);
    return found.diff;
  };
}

/** The change that the tool reports; null: it reports none. */
export function reported(part: ToolPart): Diff | null {
  if (part.state !== "done") return null;
  const told = part.details?.["diff"];
  if (typeof told === "string") return told === "" ? null : parseDiff(told);
  // As it was kept before there were details.
  const output = part.output ?? "";
  const at = output.indexOf("\n--- ");
  return at < 0 ? null : parseDiff(output.slice(at + 1));
}

/** A unified diff as lines. */
export function parseDiff(unified: string): Diff {
  const diff: Diff = { lines: [], added: 0, removed: 0, cut: false, created: false };
  let at = { old: 0, new: 0 };
  let inside = false;
  for (const line of unified.split("\n")) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      if (inside) diff.lines.push({ kind: "gap", old: null, new: null, text: "" });
      at = { old: Number(hunk[1]), new: Number(hunk[2]) };
      inside = true;
    } else if (CUT.test(line)) {
      diff.cut = true;
    } else if (inside && line !== "" && !line.startsWith("\\")) {
      take(diff, line, at);
    }
  }
  return diff;
}

/** What goes and what comes, from one text to the other. */
export function compared(before: string, after: string): Diff {
  const patch = structuredPatch("", "", ended(before), ended(after), "", "", { context: 3 });
  const diff: Diff = { lines: [], added: 0, removed: 0, cut: false, created: false };
  for (const hunk of patch.hunks) {
    if (diff.lines.length > 0) diff.lines.push({ kind: "gap", old: null, new: null, text: "" });
    const at = { old: hunk.oldStart, new: hunk.newStart };
    for (const line of hunk.lines) if (!line.startsWith("\\")) take(diff, line, at);
  }
  return diff;
}

function take(diff: Diff, line: string, at: { old: number; new: number }): void {
  const text = line.slice(1);
  if (line.startsWith("+")) {
    diff.lines.push({ kind: "add", old: null, new: at.new++, text });
    diff.added += 1;
  } else if (line.startsWith("-")) {
    diff.lines.push({ kind: "remove", old: at.old++, new: null, text });
    diff.removed += 1;
  } else {
    diff.lines.push({ kind: "same", old: at.old++, new: at.new++, text });
  }
}

/** With a line end: whether the last line has one is not worth showing. */
function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}
