/** `search_files` gives the lines that match, with their files and numbers. */

import { argument, lineFrom, within } from "./call";
import { foreign } from "./foreign";
import type { NumberedLine, Tool } from "./tool";

export const search_files: Tool = {
  ...foreign,
  about: "Searches the files of the workspace.",
  line: (part) => {
    const pattern = argument(part, "pattern");
    return lineFrom(pattern, pattern === "" ? "" : within(part));
  },
  body: ({ output }) => {
    const found = foundLines(output ?? "");
    return found.files.length > 0 ? { kind: "found", ...found } : { kind: "other" };
  },
};

export interface Found {
  path: string;
  lines: NumberedLine[];
}

/** The lines by file, and what the tool remarks. */
export function foundLines(output: string): { files: Found[]; remarks: string[] } {
  const files: Found[] = [];
  const remarks: string[] = [];
  for (const line of output.split("\n")) {
    const found = /^(.+?):(\d+): (.*)$/.exec(line);
    if (!found) {
      if (line.trim() !== "") remarks.push(line);
      continue;
    }
    const [, path = "", number, text = ""] = found;
    const last = files.at(-1);
    const file = last?.path === path ? last : { path, lines: [] };
    if (file !== last) files.push(file);
    file.lines.push({ number: Number(number), text });
  }
  return { files, remarks };
}
