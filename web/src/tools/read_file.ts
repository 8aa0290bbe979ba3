/** `read_file` gives the lines of a file, with their numbers. */

import { argument, lineFrom } from "./call";
import { foreign } from "./foreign";
import type { NumberedLine, Tool } from "./tool";

export const read_file: Tool = {
  ...foreign,
  about: "Reads a file of the workspace.",
  line: (part) => lineFrom(argument(part, "path")),
  body: ({ output }) =>
    output ? { kind: "lines", lines: numberedLines(output) } : { kind: "other" },
};

/** The lines, and what the tool remarks at the end. */
export function numberedLines(output: string): NumberedLine[] {
  return output.split("\n").map((line) => {
    const found = /^ *(\d+)\t([^]*)$/.exec(line);
    return found
      ? { number: Number(found[1]), text: found[2] ?? "" }
      : { number: null, text: line };
  });
}
