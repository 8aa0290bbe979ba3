/** Splits a growing markdown text into blocks. Finished blocks are never looked at again. */

import type { Links, Token } from "marked";
import { FenceReader } from "./fence";
import { mend } from "./mend";
import { lex, Memory } from "./parser";
import { reuseAll } from "./reuse";
import { tame } from "./tame";

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
 * then can nothing that comes still change it. From there on each update costs as much as the
 * unfinished rest is long, however long the text is. Blocks come in groups, and a full group keeps
 * its identity, so that showing them costs little too.
 */
export class BlockStream {
  #groups: Block[][] = [];
  #count = 0;
  #start = 0;
  #looked = 0;
  #seam = "";
  #links: Links = {};
  #open: Token[] = [];
  readonly #memory = new Memory();
  readonly #fence = new FenceReader();

  update(text: string, streaming: boolean): readonly (readonly Block[])[] {
    const source = tame(text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text);
    if (!this.#continues(source)) this.#reset();
    if (streaming) this.#finishBlocks(source);
    const open = streaming ? this.#growing(source) : this.#rest(source);
    return this.#with(open.map((token, n) => this.#block(n, token, !streaming)));
  }

  #growing(source: string): Token[] {
    const rest = source.slice(this.#start);
    const fenced = this.#fence.read(rest);
    if (fenced) return [fenced.token];
    const shown = mend(rest);
    const fresh = shown === "" ? [] : solid(lex(shown, { ...this.#links }, this.#memory));
    this.#open = reuseAll(this.#open, fresh);
    return this.#open;
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
    this.#open = [];
    this.#fence.reset();
  }

  #finishBlocks(source: string): void {
    const fenced = this.#fence.read(source.slice(this.#start));
    if (fenced) {
      if (fenced.end === null) return;
      this.#finish(source, [fenced.token], this.#links);
    }
    const whole = source.lastIndexOf("\n") + 1;
    const blank = lastBlank(source, whole);
    if (blank <= Math.max(this.#looked, this.#start)) return;
    this.#looked = blank;
    const links = { ...this.#links };
    const tokens = lex(source.slice(this.#start, whole), links, this.#memory);
    const finished = tokens.slice(0, seamOf(tokens));
    if (solid(finished).length > 0) this.#finish(source, finished, links);
  }

  #finish(source: string, tokens: Token[], links: Links): void {
    this.#links = links;
    this.#start += tokens.reduce((sum, token) => sum + token.raw.length, 0);
    this.#seam = source.slice(Math.max(0, this.#start - SEAM), this.#start);
    this.#open = [];
    this.#fence.reset();
    for (const token of solid(tokens)) this.#add(token);
  }

  #add(token: Token): void {
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

/** The last blank line that has a whole line with something in it behind it; -1 if none has. */
function lastBlank(source: string, whole: number): number {
  for (let end = whole; end > 0;) {
    const at = source.lastIndexOf("\n\n", end - 1);
    if (at < 0 || source.slice(at + 2, whole).trim() !== "") return at;
    end = at;
  }
  return -1;
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
