/** `start_job` runs a command in the background. */

import { argument, asked, lineFrom } from "./call";
import { foreign } from "./foreign";
import type { Tool } from "./tool";

export const start_job: Tool = {
  ...foreign,
  about: "Starts a command in the background, which goes on until it ends or is stopped.",
  changes: "anything",
  line: (part) => lineFrom(argument(part, "command")),
  request: (call) => ({
    title: "Run a command in the background",
    body: { kind: "command", text: asked(call, "command") },
    scope: "every command in the background",
  }),
  body: () => ({ kind: "shell" }),
};
