/** A code block that a text begins with, read without the parser: it may be very long. */

import type { Tokens } from "marked";

const OPENS = /^( {0,3})(`{3,}|~{3,})([^\n]*)\n/;

export interface Fenced {
  token: Tokens.Code;
  /** Where the text goes on behind it; null: its end has not come. */
  end: number | null;
}

export class FenceReader {
  #opener = "";
  #looked = 0;

  /** The block, if the text begins with one whose first line is whole and that is not indented. */
  read(text: string): Fenced | null {
    const opens = OPENS.exec(text.slice(0, 400));
    const [head = "", indent = "", sign = "", info = ""] = opens ?? [];
    // An indented one takes the indent off each of its lines: left to the parser.
    if (!opens || indent !== "" || (sign.startsWith("`") && info.includes("`"))) return null;
    if (head !== this.#opener) this.#looked = 0;
    this.#opener = head;
    const close = this.#close(text, head.length, sign);
    const inside = text.slice(head.length, close?.at ?? text.length);
    const token: Tokens.Code = {
      type: "code",
      raw: text.slice(0, close?.end ?? text.length),
      lang: info.trim(),
      text: close ? inside.replace(/\n$/, "") : withoutHalfFence(inside, sign),
    };
    return { token, end: close?.end ?? null };
  }

  /** Begin with another text. */
  reset(): void {
    this.#opener = "";
    this.#looked = 0;
  }

  #close(text: string, from: number, sign: string): { at: number; end: number } | null {
    const closer = new RegExp(`^ {0,3}${sign[0] ?? ""}{${sign.length},} *$`);
    let start = Math.max(from, this.#looked);
    for (let end = text.indexOf("\n", start); end >= 0; end = text.indexOf("\n", start)) {
      if (closer.test(text.slice(start, end))) return { at: start, end: end + 1 };
      start = end + 1;
      this.#looked = start;
    }
    return null;
  }
}

/** The last line may be the beginning of the closing fence, or all of it. */
function withoutHalfFence(inside: string, sign: string): string {
  const line = inside.lastIndexOf("\n") + 1;
  const last = inside.slice(line).trim();
  const half = last !== "" && last === (sign[0] ?? "`").repeat(last.length);
  return half ? inside.slice(0, Math.max(0, line - 1)) : inside;
}
