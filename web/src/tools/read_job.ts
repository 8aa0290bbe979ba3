/** `read_job` reads what a command in the background printed. */

import { argument } from "./call";
import { foreign } from "./foreign";
import type { Tool } from "./tool";

export const read_job: Tool = {
  ...foreign,
  about: "Reads what a command in the background has printed, and may wait for it.",
  line: (part) => {
    const pattern = argument(part, "pattern");
    const words = pattern === "" ? "what it printed" : `until it prints ${pattern}`;
    return { text: words, kind: "words" };
  },
};
