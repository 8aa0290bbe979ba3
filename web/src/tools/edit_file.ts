/** `edit_file` puts a new text in place of an old one. */

import { argument, asked, lineFrom, pathOf } from "./call";
import { compared, readOnce, reported, type Diff } from "./diff";
import { foreign } from "./foreign";
import type { Asked, Request, Tool } from "./tool";

const diffOf = readOnce(
  (part): Diff => reported(part) ?? compared(argument(part, "old"), argument(part, "new")),
);

export const edit_file: Tool = {
  ...foreign,
  about: "Changes parts of a file in the workspace.",
  changes: "file",
  line: (part) => lineFrom(argument(part, "path")),
  request: asking,
  body: (part) =>
    part.state === "input_streaming"
      ? { kind: "other" }
      : { kind: "diff", path: argument(part, "path"), diff: diffOf(part) },
  change: (part) => {
    const diff = diffOf(part);
    return { path: pathOf(part), diff, whole: !diff.cut };
  },
};

function asking(call: Asked): Request {
  const path = asked(call, "path");
  const every = call.input["all"] === true;
  const { old: before, new: after } = call.input;
  const diff = compared(textOf(before), textOf(after));
  // Where in the file it is, is not known before it is done.
  const lines = diff.lines.map((line) => ({ ...line, old: null, new: null }));
  return {
    title: every ? `Change every match in ${path}` : `Change ${path}`,
    body: { kind: "diff", path, diff: { ...diff, lines } },
    scope: "every edit",
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
