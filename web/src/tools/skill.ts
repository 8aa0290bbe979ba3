/** `skill` reads what the folder's people wrote down for a kind of task. */

import { argument, lineFrom } from "./call";
import { foreign } from "./foreign";
import type { Tool } from "./tool";

export const skill: Tool = {
  ...foreign,
  about: "Reads a skill of the workspace.",
  changes: "nothing",
  line: (part) => lineFrom(argument(part, "name")),
};
