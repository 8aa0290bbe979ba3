/** HTML for what is inside a block, remembered: most of a growing text is the same as before. */

import type { Token } from "marked";
import { inlineToHtml } from "./parser";
import { safe, safeElement } from "./safe";
import { typeset } from "./typeset.svelte";

interface Formula {
  tex: string;
  display: boolean;
}

const KEPT = 4000;
const remembered = new Map<string, string>();
const MARK = "\u{F0000}";
const SLOT = /<code class="math-slot" title="(display|inline)">([^<]*)<\/code>/g;

/** Safe HTML of these tokens. `raw` is the text they come from. */
export function inlineHtml(tokens: Token[], raw: string): string {
  // A link's address may be defined elsewhere, and a formula's look changes when it is typeset.
  if (tokens.some(dependsOnMore)) return withFormulas(inlineToHtml(tokens));
  const known = remembered.get(raw);
  if (known !== undefined) return known;
  const html = safe(inlineToHtml(tokens));
  remember(raw, html);
  return html;
}

export function formulaHtml({ tex, display }: Formula): string {
  return typeset(tex, display) ?? `<code class="formula">${escaped(tex)}</code>`;
}

function dependsOnMore(token: Token): boolean {
  if (token.type === "inlineMath" || token.type === "link" || token.type === "image") return true;
  const inside = "tokens" in token ? token.tokens : undefined;
  return inside?.some(dependsOnMore) ?? false;
}

function remember(raw: string, html: string): void {
  if (remembered.size >= KEPT) {
    const oldest = remembered.keys().next().value;
    if (oldest !== undefined) remembered.delete(oldest);
  }
  remembered.set(raw, html);
}

/** Formulas are put in after the cleaning, which would take their annotations apart. */
function withFormulas(html: string): string {
  const formulas: Formula[] = [];
  const marked = html.replaceAll(MARK, "").replace(SLOT, (_, kind: string, text: string) => {
    formulas.push({ tex: unescaped(text), display: kind === "display" });
    return MARK;
  });
  if (formulas.length === 0) return safe(html);
  const clean = safeElement(marked);
  // Only in text, never in an attribute: what is put in there is HTML.
  const texts = document.createTreeWalker(clean, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (node instanceof Text && node.data.includes(MARK)) found.push(node);
  }
  for (const node of found) fill(node, formulas);
  return clean.innerHTML;
}

function fill(node: Text, formulas: Formula[]): void {
  const pieces = node.data.split(MARK);
  const html = pieces.map((piece, n) => {
    const formula = n > 0 ? formulas.shift() : undefined;
    return (formula ? formulaHtml(formula) : "") + escaped(piece);
  });
  const filled = document.createElement("template");
  filled.innerHTML = html.join("");
  node.replaceWith(filled.content);
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function unescaped(text: string): string {
  return text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
}
