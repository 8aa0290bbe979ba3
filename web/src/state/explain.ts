/** Why something did not work, in words for the person who asked for it. */

import { Problem } from "$/link/problem";
import { bytes } from "$/ui/format";

/** What was asked for: a prompt, something to be done at once, or the saving of a form. */
export type Wish = "prompt" | "action" | "form";

const KEPT: Record<Wish, string> = {
  prompt: "Your text is kept here.",
  action: "Nothing was changed.",
  form: "Nothing was saved; try again in a moment.",
};

const WORDS: Record<string, string> = {
  session_busy: "Something is running. Wait for it to end, or stop it first.",
  queue_full: "The queue is full. Wait until some of it is done.",
  rate_limited: "Too many requests just now. Try again in a moment.",
  shutting_down: "The server is restarting. Try again in a moment.",
  model_not_found: "This model is not available. Choose another one.",
  payload_too_large: "This is too long to send at once.",
  unauthorized: "You are logged out. Log in again; your text is kept here.",
  forbidden: "The server did not allow this.",
  not_found: "This is no longer there.",
  not_last: "There is something newer; this can no longer be continued.",
  nothing_to_undo: "There is nothing to take back or to ask again.",
  internal: "Something went wrong on the server. Nothing was sent.",
};

const UNKNOWN = "That did not work. Try again.";

export function explain(error: unknown, wish: Wish = "action"): string {
  if (!(error instanceof Problem)) return UNKNOWN;
  if (error.code === "offline") return `The server cannot be reached. ${KEPT[wish]}`;
  // At a form the server's own words count: they say what is wrong with which field.
  const known = wish === "form" && error.detail !== "" ? undefined : WORDS[error.code];
  return known ?? (error.detail === "" ? UNKNOWN : sentence(error.detail));
}

/** Why this file was not taken. */
export function explainUpload(error: unknown, file: { name: string; size: number }): string {
  if (codeOf(error) !== "payload_too_large") return explain(error, "prompt");
  const limit = Number(/(\d+) bytes/.exec((error as Problem).detail)?.[1] ?? 0);
  const most = limit > 0 ? ` The server takes files up to ${bytes(limit)}.` : "";
  return `${file.name} is too large (${bytes(file.size)}).${most}`;
}

export function codeOf(error: unknown): string | null {
  return error instanceof Problem ? error.code : null;
}

/** The field that the server names before its reason ("path: there is no…"). */
export function fieldOf(error: unknown): string | null {
  if (!(error instanceof Problem)) return null;
  return /^(\w+)(?:\.\w+)*: /.exec(error.detail)?.[1] ?? null;
}

/** The server's words as a sentence, without the field they are said at. */
export function sentence(text: string): string {
  const said = text.replace(/^\w+(?:\.\w+)*: /, "").trim();
  if (!said) return UNKNOWN;
  const first = said.charAt(0).toUpperCase() + said.slice(1);
  return /[.?!…]$/.test(first) ? first : `${first}.`;
}
