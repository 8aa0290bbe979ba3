/**
 * Text that no page could show, made showable: a thousand quotes in each other, a thousand accents
 * on one letter. Small models write such things, and one of them must not take the session away.
 */

const DEEPEST = 32;
const WIDEST = 4 * DEEPEST;
const MOST_MARKS = 16;

const QUOTE = "(?:[ \\t]{0,3}>)";
const ITEM = "(?:[ \\t]*(?:[-*+]|\\d{1,9}[.)])[ \\t]+)";
const DEEP = new RegExp(`^((?:${QUOTE}|${ITEM}){${DEEPEST}})(?:${QUOTE}|${ITEM})+`);
const WIDE = new RegExp(`^([ \\t]{${WIDEST}})[ \\t]+`);
const WILD = new RegExp(`^(?:${QUOTE}|${ITEM}){${DEEPEST + 1}}|^[ \\t]{${WIDEST + 1}}`, "m");
const MARKS = new RegExp(`(\\p{M}{${MOST_MARKS}})\\p{M}+`, "gu");
const MANY_MARKS = new RegExp(`\\p{M}{${MOST_MARKS + 1}}`, "u");
const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** The text, no deeper than can be shown. What was tamed stays so when the text goes on. */
export function tame(text: string): string {
  const clear = MANY_MARKS.test(text) ? text.replace(MARKS, "$1") : text;
  return WILD.test(clear) ? flattened(clear) : clear;
}

function flattened(text: string): string {
  let fence: string | null = null;
  return text
    .split("\n")
    .map((line) => {
      const sign = FENCE.exec(line)?.[1] ?? null;
      if (fence === null) fence = sign;
      else if (sign?.startsWith(fence)) fence = null;
      // Inside a code block every space counts, and nothing nests.
      return fence === null ? line.replace(DEEP, "$1").replace(WIDE, "$1") : line;
    })
    .join("\n");
}
