/** `fetch_url` reads a page. */

import { argument, asked, lineFrom } from "./call";
import { foreign } from "./foreign";
import type { Tool } from "./tool";

export const fetch_url: Tool = {
  ...foreign,
  about: "Reads a page from the internet.",
  line: (part) => lineFrom(argument(part, "url")),
  request: (call) => ({
    title: "Open a web address",
    body: { kind: "url", url: asked(call, "url") },
    scope: "every address",
  }),
};
