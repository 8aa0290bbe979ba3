/** `search_web` asks a search service. */

import { argument, asked, lineFrom } from "./call";
import { foreign } from "./foreign";
import type { Tool } from "./tool";

export const search_web: Tool = {
  ...foreign,
  about: "Searches the web.",
  changes: "nothing",
  line: (part) => lineFrom(argument(part, "query")),
  request: (call) => ({
    title: "Search the web",
    body: { kind: "arguments", text: asked(call, "query") },
    scope: "every search",
  }),
};
