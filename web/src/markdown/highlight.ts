/** Colours for code, as HTML in which only spans with classes were added. */

import type { HLJSApi } from "highlight.js";
import { languageOf, loadLanguage } from "./languages";

/** Above this the colours are not worth the wait. */
const LONGEST = 60_000;

let engine: Promise<HLJSApi> | null = null;

/** The code as HTML, or null if it stays plain. */
export async function highlight(code: string, language: string): Promise<string | null> {
  const name = languageOf(language);
  if (!name || code.length > LONGEST) return null;
  engine ??= import("highlight.js/lib/core").then((module) => module.default);
  try {
    const [hljs, grammar] = await Promise.all([engine, loadLanguage(name)]);
    if (!grammar) return null;
    if (!hljs.getLanguage(name)) hljs.registerLanguage(name, grammar);
    return hljs.highlight(code, { language: name, ignoreIllegals: true }).value;
  } catch {
    // It could not be loaded: plain code is readable too, and the next block tries again.
    engine = null;
    return null;
  }
}
