/** A tool that the page does not know: one of an MCP server, or a newer one of ours. */

import { firstText, oneLine, toolName } from "./call";
import type { Asked, Request, Tool } from "./tool";
import { visible } from "./visible";

export const foreign: Tool = {
  about: null,
  changes: "nothing",
  live: false,
  line: (part) => ({ text: oneLine(firstText(part.input)), kind: "code" }),
  request: asking,
  body: () => ({ kind: "other" }),
  change: () => null,
  plan: () => null,
  wentWrong: () => false,
};

function asking({ tool, input }: Asked): Request {
  const { name, server } = toolName(tool);
  return {
    title: server === null ? `Use ${spoken(name)}` : `Use ${spoken(name)} of ${visible(server)}`,
    body: { kind: "arguments", text: visible(JSON.stringify(input, null, 2)) },
    scope: "every use of this tool",
  };
}

function spoken(name: string): string {
  return visible(name).replace(/[_-]+/g, " ");
}
