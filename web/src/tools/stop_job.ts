/** `stop_job` ends a command in the background. */

import { argument } from "./call";
import { foreign } from "./foreign";
import type { Tool } from "./tool";

export const stop_job: Tool = {
  ...foreign,
  about: "Stops a command in the background.",
  line: (part) => ({ text: argument(part, "id"), kind: "code" }),
};
