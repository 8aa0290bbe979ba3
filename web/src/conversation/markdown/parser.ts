/** The markdown parser, set up once: GitHub's dialect and maths. */

import { Lexer, Marked, type Links, type Token } from "marked";
import { mathBlock, mathInline } from "./maths";

const marked = new Marked({ gfm: true, breaks: false }, { extensions: [mathBlock, mathInline] });

/** The blocks of a text. `links` are definitions known from elsewhere; those found are added. */
export function lex(text: string, links: Links): Token[] {
  const lexer = new Lexer(marked.defaults);
  Object.assign(lexer.tokens.links, links);
  const tokens = lexer.lex(text);
  Object.assign(links, lexer.tokens.links);
  return [...tokens];
}

/** HTML of these blocks as the parser writes it: not yet safe to show. */
export function blocksToHtml(tokens: Token[]): string {
  return marked.parser(tokens);
}

/** HTML of what is inside one block: not yet safe to show. */
export function inlineToHtml(tokens: Token[]): string {
  return marked.Parser.parseInline(tokens, marked.defaults);
}
