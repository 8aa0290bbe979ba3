/** What a tool changed in a file, line by line. */

import { structuredPatch } from "diff";
import type { ToolPart } from "$/wire/types";
import { argument } from "./tool";

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
const read = new WeakMap<ToolPart, Diff | null>();

/** The change this call made or asks to make; null if it is no change of a file. */
export function diffOf(part: ToolPart): Diff | null {
  const known = read.get(part);
  if (known !== undefined) return known;
  const made = derive(part);
  read.set(part, made);
  return made;
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

function derive(part: ToolPart): Diff | null {
  if (part.name !== "edit_file" && part.name !== "write_file") return null;
  const output = part.state === "done" ? (part.output ?? "") : "";
  const reported = output.indexOf("\n--- ");
  if (reported >= 0) return parseDiff(output.slice(reported + 1));
  if (part.name === "edit_file") return compared(argument(part, "old"), argument(part, "new"));
  // Of a file that was there before only the new content is known: show no change that is none.
  const created = !output.startsWith("Replaced ");
  return created ? { ...compared("", argument(part, "content")), created } : null;
}

function compared(before: string, after: string): Diff {
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
