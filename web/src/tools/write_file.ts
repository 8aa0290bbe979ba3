/** `write_file` makes a file, or puts new content in the place of all that was in it. */

import { argument, asked, lineFrom, pathOf } from "./call";
import { compared, readOnce, reported, type Diff } from "./diff";
import { foreign } from "./foreign";
import type { Tool } from "./tool";

const diffOf = readOnce((part): Diff | null => {
  const found = reported(part);
  if (found !== null) return found;
  // Of a file that was there before only the new content is known: show no change that is none.
  const created = part.state !== "done" || !(part.output ?? "").startsWith("Replaced ");
  return created ? { ...compared("", argument(part, "content")), created } : null;
});

export const write_file: Tool = {
  ...foreign,
  about: "Writes a file in the workspace.",
  changes: "file",
  line: (part) => lineFrom(argument(part, "path")),
  request: (call) => ({
    title: `Write ${asked(call, "path")}`,
    body: { kind: "file", path: asked(call, "path"), text: asked(call, "content") },
    scope: "every file it writes",
  }),
  body: (part) => {
    const path = argument(part, "path");
    const diff = part.state === "input_streaming" ? null : diffOf(part);
    if (diff !== null) return { kind: "diff", path, diff };
    return { kind: "content", path, text: argument(part, "content") };
  },
  change: (part) => {
    const diff = diffOf(part);
    const whole = diff === null ? /the same as before/.test(part.output ?? "") : !diff.cut;
    return { path: pathOf(part), diff, whole };
  },
};
