/** What the test of the cleaning runs in the browser. */

import type { Token } from "marked";
import { inlineHtml } from "$/markdown/inline";
import { lex } from "$/markdown/parser";
import { safe } from "$/markdown/safe";

function shown(markdown: string): string {
  return lex(markdown, {})
    .map((token) =>
      token.type === "html" ? safe(token.raw) : inlineHtml(inside(token), token.raw),
    )
    .join("");
}

function inside(token: Token): Token[] {
  return "tokens" in token ? (token.tokens ?? []) : [];
}

Object.assign(window, { safe, shown });
