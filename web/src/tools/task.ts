/** `task` lets a sub-agent do a part of the work, in a session of its own. */

import { argument, oneLine } from "./call";
import { foreign } from "./foreign";
import type { Tool } from "./tool";

export const task: Tool = {
  ...foreign,
  about: "Lets a sub-agent do a part of the work in a session of its own.",
  live: true,
  line: (part) => ({
    text: oneLine(argument(part, "title") || argument(part, "prompt")),
    kind: "words",
  }),
  body: (part) => ({ kind: "prompt", text: argument(part, "prompt") }),
};
