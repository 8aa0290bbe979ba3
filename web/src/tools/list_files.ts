/** `list_files` gives the names of files, one per line. */

import { argument, lineFrom, within } from "./call";
import { foreign } from "./foreign";
import type { Tool } from "./tool";

export const list_files: Tool = {
  ...foreign,
  about: "Lists the files of the workspace.",
  line: (part) => {
    const pattern = argument(part, "pattern");
    return pattern === "" ? lineFrom(argument(part, "path")) : lineFrom(pattern, within(part));
  },
  body: ({ output }) =>
    output
      ? { kind: "lines", lines: output.split("\n").map((text) => ({ number: null, text })) }
      : { kind: "other" },
};
