/** Errors as a sentence at the field they belong to. */

import { Problem } from "$/link/http";

const OFFLINE = "The server cannot be reached. Nothing was saved; try again in a moment.";

/** What went wrong, as one plain sentence. */
export function reason(error: unknown): string {
  if (!(error instanceof Problem)) return "Something went wrong. Nothing was saved.";
  if (error.code === "offline") return OFFLINE;
  return sentence(error.detail || error.message);
}

/** The server names a field before its reason ("path: there is no…"): that field, and the rest. */
export function fieldOf(error: unknown): string | null {
  if (!(error instanceof Problem)) return null;
  return /^(\w+)(?:\.\w+)*: /.exec(error.detail)?.[1] ?? null;
}

export function sentence(text: string): string {
  const said = text.replace(/^\w+(?:\.\w+)*: /, "").trim();
  if (!said) return "Something went wrong.";
  const first = said.charAt(0).toUpperCase() + said.slice(1);
  return /[.?!…]$/.test(first) ? first : `${first}.`;
}
