/** Which stretches of a text are maths: rules for the markdown parser. */

import type { TokenizerAndRendererExtension, Tokens } from "marked";

export interface MathToken extends Tokens.Generic {
  type: "math" | "inlineMath";
  tex: string;
  display: boolean;
  /** Its end has not come yet. */
  open: boolean;
}

const BLOCK = /^ {0,3}(\$\$|\\\[)/;
const CLOSERS: Record<string, string> = { $$: "$$", "\\[": "\\]" };
const BLANK_LINE = /\n[ \t]*(?:\n|$)/;
const REST_OF_LINE = /^[ \t]*(?:\n|$)/;
const LONGEST = 2000;

export const mathBlock: TokenizerAndRendererExtension = {
  name: "math",
  level: "block",
  start(src) {
    // Only this paragraph: looking through the whole rest for each one would be quadratic.
    const end = src.indexOf("\n\n");
    const found = /\n {0,3}(?:\$\$|\\\[)/.exec(end < 0 ? src : src.slice(0, end));
    return found ? found.index + 1 : undefined;
  },
  tokenizer: (src) => blockToken(src),
  renderer: (token) => placeholder(token as MathToken),
};

export const mathInline: TokenizerAndRendererExtension = {
  name: "inlineMath",
  level: "inline",
  start(src) {
    const at = src.search(/\$|\\[([]/);
    return at < 0 ? undefined : at;
  },
  tokenizer(src, tokens) {
    return inlineToken(src, before(tokens));
  },
  renderer: (token) => placeholder(token as MathToken),
};

/** A formula on lines of its own. Without its end it is one only while no blank line has come. */
function blockToken(src: string): MathToken | undefined {
  const opener = BLOCK.exec(src);
  const closer = opener?.[1] && CLOSERS[opener[1]];
  if (!opener || !closer) return undefined;
  const body = src.slice(opener[0].length);
  const blank = BLANK_LINE.exec(body)?.index ?? -1;
  const close = body.indexOf(closer);
  if (close >= 0 && (blank < 0 || close < blank)) {
    const rest = REST_OF_LINE.exec(body.slice(close + closer.length));
    if (!rest || body.slice(0, close).trim() === "") return undefined;
    const raw = opener[0] + body.slice(0, close + closer.length) + rest[0];
    return { type: "math", raw, tex: body.slice(0, close).trim(), display: true, open: false };
  }
  if (blank >= 0 && body.slice(blank).trim() !== "") return undefined;
  return { type: "math", raw: src, tex: body.trim(), display: true, open: true };
}

function inlineToken(src: string, previous: string): MathToken | undefined {
  const make = (raw: string, tex: string, display: boolean): MathToken => ({
    type: "inlineMath",
    raw,
    tex: tex.trim(),
    display,
    open: false,
  });
  const bracket = /^\\\(([^]+?)\\\)|^\\\[([^]+?)\\\]/.exec(src.slice(0, LONGEST));
  if (bracket) return make(bracket[0], bracket[1] ?? bracket[2] ?? "", bracket[2] !== undefined);
  if (/[\w$\\]$/.test(previous)) return undefined;
  const double = /^\$\$([^$]+?)\$\$(?![\w$])/.exec(src.slice(0, LONGEST));
  if (double?.[1]?.trim()) return make(double[0], double[1], true);
  const single = /^\$((?:\\[^]|[^$\\`])+?)\$(?![\w$])/.exec(src.slice(0, LONGEST));
  if (!single?.[1] || !isFormula(single[1])) return undefined;
  return make(single[0], single[1], false);
}

/** What stands between two dollar signs is a formula, not the text between two prices. */
function isFormula(between: string): boolean {
  if (/^\s|\s$/.test(between) || /\n[ \t]*\n/.test(between)) return false;
  const startsLikePrice = /^\d[\d.,]*(?:[ \-–/]|$)/.test(between);
  const hasWords = /(?<!\\)\b[a-z]{2,}\b/i.test(between.replace(/\\[a-z]+(?:\{[^}]*\})?/gi, ""));
  return !(startsLikePrice && hasWords);
}

function before(tokens: readonly { raw: string }[]): string {
  return tokens.at(-1)?.raw.slice(-1) ?? "";
}

/** The formula as its source; whoever shows it puts the typeset one in its place. */
function placeholder(token: MathToken): string {
  const text = token.tex.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const slot = `<code class="math-slot" title="${token.display ? "display" : "inline"}">${text}</code>`;
  return token.type === "math" ? `<p>${slot}</p>\n` : slot;
}
