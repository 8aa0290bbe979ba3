/** The markdown parser, set up once: GitHub's dialect and maths. */

import { Lexer, Marked, type Links, type Token } from "marked";
import { mathBlock, mathInline } from "./maths";

const marked = new Marked({ gfm: true, breaks: false }, { extensions: [mathBlock, mathInline] });

/** What was read before, by its text: of a text that grows only the end is new. */
export class Memory {
  static readonly #KEPT = 5000;
  readonly #tokens = new Map<string, Token[]>();
  #links = "";

  /** Links can be defined later, and then the same text means something else. */
  under(links: Links): this {
    const known = Object.keys(links).join("\n");
    if (known !== this.#links || this.#tokens.size > Memory.#KEPT) this.#tokens.clear();
    this.#links = known;
    return this;
  }

  recall(text: string): Token[] | undefined {
    return this.#tokens.get(text);
  }

  keep(text: string, tokens: Token[]): void {
    this.#tokens.set(text, tokens);
  }
}

class RememberingLexer extends Lexer {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    super(marked.defaults);
    this.#memory = memory;
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const { inLink, inRawBlock } = this.state;
    if (inLink || inRawBlock || tokens.length > 0) return super.inlineTokens(src, tokens);
    const known = this.#memory.recall(src);
    if (known) {
      tokens.push(...known);
      return tokens;
    }
    const found = super.inlineTokens(src, tokens);
    if (!this.state.inRawBlock) this.#memory.keep(src, [...found]);
    return found;
  }
}

/** The blocks of a text. `links` are definitions known from elsewhere; those found are added. */
export function lex(text: string, links: Links, memory?: Memory): Token[] {
  const lexer = memory ? new RememberingLexer(memory.under(links)) : new Lexer(marked.defaults);
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
