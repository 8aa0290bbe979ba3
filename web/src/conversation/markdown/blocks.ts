/** Splits a growing markdown text into blocks. Finished blocks are never looked at again. */

import type { Links, Token } from "marked";
import { mend } from "./mend";
import { lex } from "./parser";

export interface Block {
  /** Stable as long as the text only grows. */
  readonly key: number;
  readonly token: Token;
  readonly done: boolean;
}

const GROUP = 24;
const SEAM = 64;

/**
 * The blocks of a text that grows at its end.
 *
 * A block is finished when after it and a blank line another one has begun on a whole line: only
 * then can nothing that comes still change it. From there on each update costs as much as the unfinished rest is long,
 * however long the text is. Blocks come in groups, and a full group keeps its identity, so that
 * showing them costs little too.
 */
export class BlockStream {
  #groups: Block[][] = [];
  #count = 0;
  #start = 0;
  #looked = 0;
  #seam = "";
  #links: Links = {};

  update(text: string, streaming: boolean): readonly (readonly Block[])[] {
    const source = text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
    if (!this.#continues(source)) this.#reset();
    if (streaming) this.#finishWholeLines(source);
    const open = streaming ? this.#open(source) : this.#rest(source);
    return this.#with(open.map((token, n) => this.#block(n, token, !streaming)));
  }

  #open(source: string): Token[] {
    const shown = mend(source.slice(this.#start));
    return shown === "" ? [] : solid(lex(shown, { ...this.#links }));
  }

  #rest(source: string): Token[] {
    const links = { ...this.#links };
    const rest = lex(source.slice(this.#start), links);
    if (this.#start === 0 || Object.keys(links).length === 0) return solid(rest);
    // Definitions may come after the links that use them: read it all once more.
    this.#reset();
    return solid(lex(source, {}));
  }

  #continues(source: string): boolean {
    return (
      source.length >= this.#start &&
      source.slice(Math.max(0, this.#start - SEAM), this.#start) === this.#seam
    );
  }

  #reset(): void {
    this.#groups = [];
    this.#count = this.#start = this.#looked = 0;
    this.#seam = "";
    this.#links = {};
  }

  #finishWholeLines(source: string): void {
    const whole = source.lastIndexOf("\n") + 1;
    if (whole <= this.#looked) return;
    this.#looked = whole;
    const links = { ...this.#links };
    const tokens = lex(source.slice(this.#start, whole), links);
    const finished = tokens.slice(0, seamOf(tokens));
    if (solid(finished).length === 0) return;
    this.#links = links;
    this.#start += finished.reduce((sum, token) => sum + token.raw.length, 0);
    this.#seam = source.slice(Math.max(0, this.#start - SEAM), this.#start);
    for (const token of solid(finished)) this.#finish(token);
  }

  #finish(token: Token): void {
    const block = this.#block(0, token, true);
    this.#count += 1;
    const group = this.#groups.at(-1);
    // The growing group is a new array each time, so that whoever shows it sees the change.
    if (group && group.length < GROUP) this.#groups[this.#groups.length - 1] = [...group, block];
    else this.#groups.push([block]);
  }

  #block(ahead: number, token: Token, done: boolean): Block {
    return { key: this.#count + ahead, token, done };
  }

  #with(open: Block[]): Block[][] {
    const groups = [...this.#groups];
    let last = groups.at(-1);
    for (const block of open) {
      if (!last || last.length >= GROUP) groups.push((last = [block]));
      else groups[groups.length - 1] = last = [...last, block];
    }
    return groups;
  }
}

/** How many of these are finished. */
function seamOf(tokens: Token[]): number {
  const last = tokens.findLastIndex((token) => token.type !== "space");
  for (let n = last; n > 0; n -= 1) {
    const before = tokens[n - 1];
    if (before?.type === "space" || before?.raw.endsWith("\n\n")) return n;
  }
  return 0;
}

function solid(tokens: Token[]): Token[] {
  return tokens.filter((token) => token.type !== "space" && token.type !== "def");
}
