/** `shell` runs a command. */

import { argument, asked, lineFrom } from "./call";
import { foreign } from "./foreign";
import { plain } from "./output";
import type { Tool } from "./tool";

export const shell: Tool = {
  ...foreign,
  about: "Runs a command in the workspace's folder.",
  changes: "anything",
  live: true,
  line: (part) => lineFrom(argument(part, "command")),
  request: (call) => ({
    title: "Run a command",
    body: { kind: "command", text: asked(call, "command") },
    scope: "every command",
  }),
  body: () => ({ kind: "shell" }),
  wentWrong: ({ state, output }) => state === "done" && shellOutput(output ?? "").bad,
};

export interface ShellOutput {
  text: string;
  /** How it ended, if not well. */
  remark: string | null;
  /** It ended with a code other than 0, by a signal or because its time was up. */
  bad: boolean;
}

const REMARK =
  /\n?\[((?:exit code \d+)|(?:ended by signal \d+)|(?:stopped: [^\]]+))\](?=\n\[|\s*$)/;
const WHOLE = /\n?\[the whole output: [^\]\n]*\](?=\n\[|\s*$)/;
const LEFT = /\n?\[(\d+ process(?:es)? left in the background: ended)[^\]]*\]\s*$/;

/** Takes the tool's own remarks off the end of a command's output. */
export function shellOutput(output: string): ShellOutput {
  const left = LEFT.exec(output);
  const rest = left ? output.slice(0, left.index) : output;
  const remark = REMARK.exec(rest.slice(-400));
  const cut = remark ? Math.max(0, rest.length - 400) + remark.index : rest.length;
  const said = [remark?.[1], left?.[1]].filter((one) => one !== undefined);
  const text = plain(rest.slice(0, cut)).replace(WHOLE, "").replace(/\n+$/, "");
  return {
    text: text === "(no output)" ? "" : text,
    remark: said.length === 0 ? null : said.map(spoken).join(" · "),
    bad: remark !== null,
  };
}

function spoken(remark: string): string {
  if (remark.startsWith("stopped: ")) return "Stopped: its time was up";
  const sentence = remark.replace(/: ended$/, " were ended");
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
